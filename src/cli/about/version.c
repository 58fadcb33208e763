/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: the version of the program; as JSON also how it was built, what it reads and writes,
 * and its embedded files. */
#include "base/sha256.h"
#include "build_info.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "codec/dwarf.h"
#include "export/export.h"
#include "isa/disasm.h"
#include "serve/session/assets.h"
#include "sql/sql.h"

extern const struct asset profile_assets[], man_assets[];
extern const size_t profile_n_assets, man_n_assets;

static void put_names(struct json_writer *w)
{
	json_w_kv_row(w, "verbs");
	for (const struct verb *const *v = verb_table; *v; v++)
		json_w_cstr(w, (*v)->name);
	json_w_end(w);
	json_w_kv_row(w, "import");
	for (const struct import_ops *const *o = import_registry; *o; o++)
		json_w_cstr(w, (*o)->name);
	json_w_end(w);
	json_w_kv_row(w, "export");
	for (const struct export_ops *const *o = export_registry; *o; o++)
		json_w_cstr(w, (*o)->name);
	json_w_end(w);
}

/* sha256: of the bytes of all files, concatenated. */
static void put_embedded(
	struct json_writer *w, const char *name, const struct asset *files, size_t n)
{
	struct sha256 hash;
	uint64_t bytes = 0;
	char hex[65];

	sha256_init(&hash);
	for (size_t i = 0; i < n; i++) {
		sha256_add(&hash, files[i].data, files[i].size);
		bytes += files[i].size;
	}
	sha256_hex(&hash, hex);
	json_w_kv_object(w, name);
	json_w_kv_u64(w, "files", n);
	json_w_kv_u64(w, "bytes", bytes);
	json_w_kv_cstr(w, "sha256", hex);
	json_w_end(w);
}

static void put_build(struct json_writer *w)
{
	static const char *const libraries[][2] = {BUILD_LIBRARIES};

	json_w_kv_object(w, "build");
	json_w_kv_cstr(w, "commit", *BUILD_COMMIT ? BUILD_COMMIT : NULL);
	json_w_kv_cstr(w, "compiler", BUILD_COMPILER);
	json_w_kv_bool(w, "static", !disasm_loads_libraries());
	json_w_kv_object(w, "libraries");
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		json_w_kv_cstr(w, libraries[i][0], libraries[i][1]);
	json_w_end(w);
	json_w_end(w);
}

int version_print(FILE *out, bool as_json)
{
	struct json_writer w;

	if (!as_json) {
		fputs("incore " INCORE_VERSION "\n", out);
		return INCORE_OK;
	}
	json_w_file(&w, out, 2);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.version/1");
	json_w_kv_cstr(&w, "incore", INCORE_VERSION);
	put_build(&w);
	json_w_kv_object(&w, "features");
	put_names(&w);
	json_w_kv_bool(&w, "source_lines", dwarf_is_built());
	json_w_kv_bool(&w, "sql", sql_is_built());
#ifdef INCORE_FAULT_INJECTION
	json_w_kv_bool(&w, "fault_injection", true);
#endif
	json_w_end(&w);
	json_w_kv_object(&w, "embedded");
	put_embedded(&w, "page", serve_assets, serve_n_assets);
	put_embedded(&w, "profiles", profile_assets, profile_n_assets);
	put_embedded(&w, "man_pages", man_assets, man_n_assets);
	json_w_end(&w);
	json_w_end(&w);
	json_w_finish(&w, NULL);
	return INCORE_OK;
}
