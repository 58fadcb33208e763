/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c: the only list of output formats. */
#include "export/export.h"

extern const struct export_ops export_json;
extern const struct export_ops export_csv;
extern const struct export_ops export_chrome;
extern const struct export_ops export_perfetto;
extern const struct export_ops export_folded;
extern const struct export_ops export_speedscope;
extern const struct export_ops export_pprof;
#ifdef INCORE_OTF2
extern const struct export_ops export_otf2;
#endif
extern const struct export_ops export_parquet;
#ifdef INCORE_SQLITE
extern const struct export_ops export_sqlite;
extern const struct export_ops export_rocpd;
#endif
extern const struct export_ops export_ui_output;
extern const struct export_ops export_insight;

const struct export_ops *const export_registry[] = {
	&export_json,
	&export_csv,
	&export_chrome,
	&export_perfetto,
	&export_folded,
	&export_speedscope,
	&export_pprof,
#ifdef INCORE_OTF2
	&export_otf2,
#endif
	&export_parquet,
#ifdef INCORE_SQLITE
	&export_sqlite,
	&export_rocpd,
#endif
	&export_ui_output,
	&export_insight,
	NULL,
};

const struct export_ops *export_find(const char *name)
{
	for (size_t i = 0; export_registry[i]; i++)
		if (strcmp(export_registry[i]->name, name) == 0)
			return export_registry[i];
	return NULL;
}
