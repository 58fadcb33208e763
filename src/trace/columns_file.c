/* SPDX-License-Identifier: Apache-2.0 */
/* columns_file.c: columns kept in a mapped file, so that the system can reclaim their memory at any
 * time. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "trace/columns_internal.h"

bool columns_file_end(int fd, const struct columns *c, uint64_t offset, const uint64_t key[2],
	struct incore_error *e)
{
	size_t n = (size_t)c->n_lanes * sizeof(struct columns_entry);
	struct columns_entry *dir = mem_zalloc(c->n_lanes, sizeof(*dir));
	struct columns_head h = {.magic = COLUMNS_MAGIC,
		.version = COLUMNS_VERSION,
		.lane_sums = LANE_HEAD,
		.key = {key[0], key[1]},
		.n_tracks = c->n_tracks,
		.n_lanes = c->n_lanes,
		.dir_offset = offset,
		.file_bytes = offset + n};
	bool ok;

	if (!dir)
		return err_nomem(e);
	for (uint32_t i = 0; i < c->n_lanes; i++) {
		const struct lane *l = &c->lanes[i];

		dir[i] = (struct columns_entry){l->track, l->n, l->first, l->n_sub, l->base_cyc,
			l->begin_cyc, l->end_cyc, l->offset, l->hash};
	}
	h.dir_hash = hash_bytes(dir, n, 0);
	ok = lseek(fd, (off_t)offset, SEEK_SET) >= 0 && write_all(fd, dir, n, e) &&
	     lseek(fd, 0, SEEK_SET) == 0 && write_all(fd, &h, sizeof(h), e);
	mem_free(dir);
	return ok;
}

static bool is_sound(
	const struct columns_head *h, const struct trace *t, const uint64_t key[2], uint64_t size)
{
	return memcmp(h->magic, COLUMNS_MAGIC, sizeof(h->magic)) == 0 &&
	       h->version == COLUMNS_VERSION && h->lane_sums == LANE_HEAD && h->key[0] == key[0] &&
	       h->key[1] == key[1] && h->n_tracks == t->n_tracks && h->file_bytes == size &&
	       h->dir_offset % 8 == 0 && h->dir_offset <= size &&
	       (size - h->dir_offset) / sizeof(struct columns_entry) == h->n_lanes;
}

/* Nothing in the directory is trusted: the columns must lie inside the file. */
static bool take_lane(
	struct columns *c, const struct trace *t, const struct columns_entry *x, uint64_t limit)
{
	struct lane *l = &c->lanes[c->n_lanes];
	size_t bytes = lane_bytes(x->n, x->n_sub > 1);

	if (x->track >= t->n_tracks || x->n_sub == 0 || x->n_sub > LANE_MAX_SUB ||
		x->offset % LANE_ALIGN || x->offset > limit || bytes > limit - x->offset)
		return false;
	if (c->n_lanes ? x->track < l[-1].track || x->track > l[-1].track + 1 : x->track != 0)
		return false;
	*l = (struct lane){.track = x->track,
		.n = x->n,
		.first = x->first,
		.n_sub = x->n_sub,
		.base_cyc = x->base_cyc,
		.begin_cyc = x->begin_cyc,
		.end_cyc = x->end_cyc,
		.offset = x->offset,
		.hash = x->hash,
		.slot = slots_of_track(t->tracks[x->track].name)};
	lane_place(l, (uint8_t *)c->map + x->offset);
	if (l->first != (c->n_lanes && l[-1].track == l->track ? l[-1].first + l[-1].n : 0))
		return false;
	c->n_lanes++;
	return true;
}

static bool take_lanes(struct columns *c, const struct trace *t, const uint64_t key[2])
{
	const struct columns_head *h = c->map;
	const struct columns_entry *dir;
	size_t dir_bytes;

	if (!is_sound(h, t, key, c->map_size))
		return false;
	dir = (const struct columns_entry *)((uint8_t *)c->map + h->dir_offset);
	dir_bytes = (size_t)h->n_lanes * sizeof(*dir);
	if (hash_bytes(dir, dir_bytes, 0) != h->dir_hash)
		return false;
	c->n_tracks = h->n_tracks;
	c->lanes = mem_zalloc((size_t)h->n_lanes + 1, sizeof(*c->lanes));
	for (uint32_t i = 0; c->lanes && i < h->n_lanes; i++)
		if (!take_lane(c, t, &dir[i], h->dir_offset))
			return false;
	return c->lanes &&
	       (c->n_lanes == 0 ? c->n_tracks == 0
				: c->lanes[c->n_lanes - 1].track + 1 == c->n_tracks) &&
	       columns_number(c);
}

bool columns_map(const char *path, const struct trace *t, const uint64_t key[2],
	struct columns *out, struct incore_error *e)
{
	struct columns c = {0};
	struct stat st;
	int fd = fault_hit(FAULT_OPEN) ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_file(e, "no-columns", path, INCORE_NO_OFFSET, "cannot be opened");
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size >= (off_t)sizeof(struct columns_head)) {
		c.map_size = (size_t)st.st_size;
		c.map = mmap(NULL, c.map_size, PROT_READ, MAP_SHARED, fd, 0);
		if (c.map == MAP_FAILED)
			c.map = NULL;
		else
			map_guard_add(c.map, c.map_size, path); /* our own file: a guard is
								   optional */
	}
	close(fd);
	if (!c.map || !take_lanes(&c, t, key)) {
		columns_deinit(&c);
		return err_file(e, "bad-columns", path, INCORE_NO_OFFSET,
			"is not a columns file of this capture");
	}
	*out = c;
	return true;
}

void columns_deinit(struct columns *c)
{
	for (uint32_t i = 0; c->chunks && i < c->n_lanes; i++)
		mem_free(c->chunks[i]);
	mem_free(c->chunks);
	mem_free(c->lanes);
	mem_free(c->first_lane);
	if (c->map) {
		map_guard_drop(c->map);
		munmap(c->map, c->map_size);
	}
	*c = (struct columns){0};
}
