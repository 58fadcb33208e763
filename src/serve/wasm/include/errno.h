/* SPDX-License-Identifier: Apache-2.0 */
/* errno.h: numbers that base/error.c names; nothing sets them in a browser. */
#ifndef SERVE_WASM_INCLUDE_ERRNO_H
#define SERVE_WASM_INCLUDE_ERRNO_H

#define EPERM 1
#define ENOENT 2
#define EIO 5
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define ENAMETOOLONG 36
#define ELOOP 40
#define EOVERFLOW 75
#define EDQUOT 122
#define ENOMEM 12
#define EINVAL 22
#define ENOTEMPTY 39

#endif
