/* SPDX-License-Identifier: Apache-2.0 */
/* acl.h: the calls that the generated host program makes, as acl_stub.cpp answers them. */
#pragma once
#include <cstddef>
#include <cstdint>

typedef int aclError;
typedef void *aclrtStream;
enum { ACL_SUCCESS = 0 };
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE };

extern "C" {
aclError aclInit(const char *config);
aclError aclFinalize();
aclError aclrtSetDevice(int32_t device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtMalloc(void **p, size_t n, aclrtMemMallocPolicy policy);
aclError aclrtFree(void *p);
aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t n, aclrtMemcpyKind kind);
}
