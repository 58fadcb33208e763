/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h: the user's browser on an address that carries a secret. The secret never stands in a
 * list of processes: the browser opens a private file that leads to the address. Where there is no
 * place for such a file nothing is opened. Nothing here fails: the address was printed.
 */
#pragma once

struct browser {
	char *path; /* of the file, while it is there */
};

void browser_open(struct browser *b, const char *url);
void browser_close(struct browser *b);
