/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests.c: connections in order of arrival. Hanging up shuts down the socket: the thread of the
 * connection sees the end of the stream and exits normally.
 */
#include "serve/session/guests.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void guests_init(struct guests *all)
{
	*all = (struct guests){0};
	pthread_mutex_init(&all->lock, NULL);
}

void guests_free(struct guests *all)
{
	while (all->oldest)
		guest_left(all, all->oldest);
	pthread_mutex_destroy(&all->lock);
}

struct guest *guest_came(struct guests *all, int fd)
{
	struct guest *g = mem_zalloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (g->fd < 0) {
		mem_free(g);
		return NULL;
	}
	g->since_ms = now_ms();
	pthread_mutex_lock(&all->lock);
	g->older = all->newest;
	*(all->newest ? &all->newest->newer : &all->oldest) = g;
	all->newest = g;
	pthread_mutex_unlock(&all->lock);
	return g;
}

void guest_left(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	*(g->older ? &g->older->newer : &all->oldest) = g->newer;
	*(g->newer ? &g->newer->older : &all->newest) = g->older;
	pthread_mutex_unlock(&all->lock);
	close(g->fd);
	mem_free(g);
}

void guest_showed_token(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	g->is_known = true;
	pthread_mutex_unlock(&all->lock);
}

void guest_asked(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	g->is_answered = true;
	pthread_mutex_unlock(&all->lock);
}

void guest_was_answered(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	g->is_answered = false;
	g->since_ms = now_ms();
	pthread_mutex_unlock(&all->lock);
}

static bool may_stay(const struct guest *g, int64_t now, unsigned n_strangers)
{
	int64_t waited = now - g->since_ms;

	if (waited > GUESTS_REQUEST_MS && !g->is_answered)
		return false;
	return n_strangers <= GUESTS_STRANGERS || waited <= GUESTS_GRACE_MS;
}

void guests_tend(struct guests *all)
{
	int64_t now = now_ms();
	unsigned n_strangers = 0;

	pthread_mutex_lock(&all->lock);
	for (struct guest *g = all->oldest; g; g = g->newer)
		n_strangers += !g->is_known && !g->is_sent_away;
	for (struct guest *g = all->oldest; g; g = g->newer) {
		if (g->is_known || g->is_sent_away || may_stay(g, now, n_strangers))
			continue;
		shutdown(g->fd, SHUT_RDWR);
		g->is_sent_away = true;
		n_strangers--;
	}
	pthread_mutex_unlock(&all->lock);
}
