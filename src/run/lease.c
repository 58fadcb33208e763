/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c: locks on files "incore-<name>.lock", which are never removed: removing one would split
 * the lock. */
#include "run/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

const char *lease_directory(void)
{
	const char *named = getenv("INCORE_LEASES");

	if (named && *named)
		return named;
	return access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp";
}

/* Another user's file in a shared folder must not be opened with O_CREAT (fs.protected_regular). */
static int lease_open_file(const char *path)
{
	for (unsigned i = 0; i < 2; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

		if (fd >= 0 || errno != ENOENT)
			return fd;
		fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd >= 0)
			fchmod(fd, 0644); /* regardless of the umask */
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

bool lease_take(struct lease *l, const char *dir, const char *name, struct incore_error *e)
{
	struct strbuf path = {0};
	bool ok = true;
	int fd;

	*l = (struct lease){0};
	sb_printf(&path, "%s/incore-%s.lock", dir, name);
	if (path.failed) {
		sb_free(&path);
		return err_nomem(e);
	}
	fd = lease_open_file(path.p);
	if (fd < 0 && errno == ENOENT && (mkdir(dir, 0777) == 0 || errno == EEXIST))
		fd = lease_open_file(path.p);
	if (fd < 0)
		ok = err_output(e, errno, path.p, "cannot open the lease");
	else if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		l->fd = fd;
	else if (errno != EWOULDBLOCK)
		ok = err_output(e, errno, path.p, "cannot lock the lease");
	if (fd >= 0 && !l->fd)
		close(fd);
	sb_free(&path);
	return ok;
}

void lease_end(struct lease *l)
{
	if (l->fd > 0)
		close(l->fd);
	*l = (struct lease){0};
}
