/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h: HTTP server for a session. Listens on loopback unless configured otherwise; accepts only
 * GET and HEAD; no text of a request reaches the file system. Every request is checked in this
 * order: length, method, Host, Origin, then for data the token. Owner: http_start() .. http_stop().
 * The session or board must outlive the server.
 */
#pragma once

#include "serve/session/board.h"
#include "serve/session/session.h"
#include "serve/session/token.h"

#define HTTP_MAX_CONNECTIONS 256u
#define HTTP_TIMEOUT_S 10u	  /* without a byte in or out */
#define HTTP_KNOWN_TIMEOUT_S 600u /* for clients that have shown the token */

struct http_options {
	const char *bind;	 /* numeric address; NULL: 127.0.0.1 */
	uint16_t port;		 /* 0: any free one */
	struct session *session; /* or a board */
	struct board *board;
	const struct token *token;
};

struct http;

struct http *http_start(const struct http_options *o, struct incore_error *e);
uint16_t http_port(const struct http *h);
/* Seconds since the last request, 0 while one is being answered. */
unsigned http_idle_s(const struct http *h);
/* To be called a few times per second: see http.c. */
void http_tend(struct http *h);
void http_stop(struct http *h);
