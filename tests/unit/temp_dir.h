/* SPDX-License-Identifier: Apache-2.0 */
/* temp_dir.h: taking away what a test made below /tmp; no shell has a part in it. */
#ifndef TESTS_UNIT_TEMP_DIR_H
#define TESTS_UNIT_TEMP_DIR_H

/* Removes a directory that mkdtemp() made of "/tmp/incore-...XXXXXX", with all in it; links are not
 * followed. 0 on success; any other path is refused. */
int temp_dir_remove(const char *dir);

#endif
