/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h: opens the user's browser on a URL that carries a secret. The secret never appears in a
 * process list: the browser opens a private file that redirects to the URL. If there is no place
 * for such a file, nothing is opened. Nothing here fails: the URL was printed anyway.
 */
#pragma once

struct browser {
	char *path; /* of the private file, while it exists */
};

void browser_open(struct browser *b, const char *url);
void browser_close(struct browser *b);
