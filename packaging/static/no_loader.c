/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_loader.c: of the static program alone. A library that a static program loads would bring a second
 * C library of whatever version is there, and some libraries ask for one unasked (libdw for debuginfod). So
 * nothing is ever found; what would have been loaded is run as a program instead, or is not there. The C
 * library looks users up through such libraries, too: libedit, which asks for their folders, is told of none.
 * It also loads a library per character set: GBK is not converted, as on a system that lacks its table.
 */
#include <errno.h>
#include <iconv.h>
#include <pwd.h>
#include <stddef.h>

/* --version --json tells */
extern const char incore_loads_nothing[];
const char incore_loads_nothing[] = "static";

void *dlopen(const char *path, int flags);
void *dlopen(const char *path, int flags)
{
	(void)path;
	(void)flags;
	return NULL;
}

void *dlsym(void *restrict lib, const char *restrict name);
void *dlsym(void *restrict lib, const char *restrict name)
{
	(void)lib;
	(void)name;
	return NULL;
}

int dlclose(void *lib);
int dlclose(void *lib)
{
	(void)lib;
	return 0;
}

char *dlerror(void);
char *dlerror(void)
{
	static char text[] = "a static program loads no libraries";

	return text;
}

iconv_t iconv_open(const char *to, const char *from)
{
	(void)to;
	(void)from;
	errno = EINVAL;
	return (iconv_t)-1; /* so the other two are not called */
}

size_t iconv(iconv_t table, char **restrict in, size_t *restrict in_left, char **restrict out,
	size_t *restrict out_left)
{
	(void)table;
	(void)in;
	(void)in_left;
	(void)out;
	(void)out_left;
	errno = EBADF;
	return (size_t)-1;
}

int iconv_close(iconv_t table)
{
	(void)table;
	return 0;
}

struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	return NULL;
}

struct passwd *getpwent(void)
{
	return NULL;
}

void setpwent(void)
{
}

void endpwent(void)
{
}

static int no_user(struct passwd **result)
{
	*result = NULL;
	return ENOENT;
}

int getpwnam_r(const char *restrict name, struct passwd *restrict pwd, char *restrict buf, size_t n,
	struct passwd **restrict result)
{
	(void)name;
	(void)pwd;
	(void)buf;
	(void)n;
	return no_user(result);
}

int getpwuid_r(uid_t uid, struct passwd *restrict pwd, char *restrict buf, size_t n,
	struct passwd **restrict result)
{
	(void)uid;
	(void)pwd;
	(void)buf;
	(void)n;
	return no_user(result);
}
