/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_config.c: the kernels of a kernel_config.py, without running it. */
#include "replay/source/kernel_config.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"

#define READ_LIMIT_MS 60000

/* Texts and paths are followed through constants, names, str(), Path(), "/", os.path.join() and the
 * parents of __file__. One line a kernel, tabs between. */
static const char READER[] =
	"import ast, os, sys\n"
	"path = os.path.abspath(sys.argv[1])\n"
	"tree = ast.parse(open(path, encoding='utf-8').read(), path)\n"
	"names = {t.id: n.value for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}\n"
	"def text(n, depth=0):\n"
	"    if depth > 50:\n"
	"        return None\n"
	"    if isinstance(n, ast.Constant):\n"
	"        return n.value if isinstance(n.value, str) else None\n"
	"    if isinstance(n, ast.Name):\n"
	"        return path if n.id == '__file__' else text(names[n.id], depth + 1) if n.id in names else None\n"
	"    if isinstance(n, ast.Attribute):\n"
	"        at = text(n.value, depth + 1)\n"
	"        return os.path.dirname(at) if n.attr == 'parent' and at else None\n"
	"    if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Div, ast.Add)):\n"
	"        a, b = text(n.left, depth + 1), text(n.right, depth + 1)\n"
	"        return None if a is None or b is None else a + b if isinstance(n.op, ast.Add) else os.path.join(a, b)\n"
	"    if isinstance(n, ast.Call):\n"
	"        called = n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, 'id', '')\n"
	"        if called in ('resolve', 'absolute') and isinstance(n.func, ast.Attribute):\n"
	"            return text(n.func.value, depth + 1)\n"
	"        parts = [text(a, depth + 1) for a in n.args]\n"
	"        if called == 'dirname' and len(parts) == 1 and parts[0]:\n"
	"            return os.path.dirname(parts[0])\n"
	"        if called in ('str', 'Path', 'fspath', 'abspath', 'realpath', 'join') and parts and None not in parts:\n"
	"            return os.path.join(*parts)\n"
	"    return None\n"
	"for node in ast.walk(tree):\n"
	"    if not isinstance(node, ast.Dict):\n"
	"        continue\n"
	"    d = {k.value: v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)}\n"
	"    if 'func_id' not in d or 'source' not in d or not isinstance(d['func_id'], ast.Constant):\n"
	"        continue\n"
	"    fields = [str(d['func_id'].value)] + [(text(d[k]) if k in d else '') for k in ('name', 'core_type', 'source')]\n"
	"    if fields[3] is None:\n"
	"        sys.exit('line %d: this source is no path that can be followed' % d['source'].lineno)\n"
	"    print('\\t'.join((f or '').replace('\\t', ' ').replace('\\n', ' ') for f in fields))\n";

static bool take_line(struct arena *a, struct str line, config_kernels *out, struct incore_error *e)
{
	struct config_kernel k = {0};
	const char **texts[] = {&k.name, &k.core, &k.source};
	struct str part;

	if (!str_cut(&line, "\t", &part) || !str_to_i64(part, &k.func) || k.func < 0 ||
		k.func > INT32_MAX)
		return true;
	for (unsigned i = 0; i < 3; i++) {
		if (!str_cut(&line, "\t", &part))
			part = line;
		*texts[i] = arena_strndup(a, part.p, part.n);
		if (!*texts[i])
			return err_nomem(e);
	}
	return VEC_PUSH(out, k) || err_nomem(e);
}

static bool run_reader(const char *path, struct strbuf *text, struct incore_error *e)
{
	const char *argv[] = {"python3", "-I", "-c", READER, path, NULL};
	struct process_spec spec = {.argv = argv, .output = text, .limit_ms = READ_LIMIT_MS};
	struct process_result r;

	if (!process_run(&spec, &r, e))
		return false;
	if (r.end == PROCESS_NOT_STARTED)
		return err_set(e, INCORE_MISSING, "no-python",
			"%s is read by python3, which cannot be started: %s; --source names a kernel without it",
			path, strerror(r.code));
	if (r.end != PROCESS_EXITED || r.code != 0) {
		struct str rest = {text->p ? text->p : "", text->n}, line, last = {"", 0};

		while (str_cut(&rest, "\n", &line))
			last = line.n ? line : last;
		return err_file(e, "bad-config", path, INCORE_NO_OFFSET, "python3 says: %.*s",
			STR_ARG(last));
	}
	return true;
}

bool kernel_config_read(
	struct arena *a, const char *path, config_kernels *out, struct incore_error *e)
{
	const char *file = file_is_dir(path) ? arena_printf(a, "%s/kernel_config.py", path) : path;
	struct strbuf text = {0};
	struct str rest, line;
	bool ok;

	if (!file)
		return err_nomem(e);
	if (!file_exists(file))
		return err_file(e, "no-config", file, INCORE_NO_OFFSET, "no such file");
	ok = run_reader(file, &text, e);
	rest = (struct str){text.p ? text.p : "", text.n};
	while (ok && str_cut(&rest, "\n", &line))
		ok = take_line(a, line, out, e);
	if (ok && !out->n)
		ok = err_file(e, "bad-config", file, INCORE_NO_OFFSET,
			"no kernels: expected dicts with func_id and source");
	sb_free(&text);
	return ok;
}

const struct config_kernel *kernel_config_find(
	const config_kernels *all, const char *name, int64_t func, struct incore_error *e)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < all->n; i++) {
		if (name ? strcmp(all->v[i].name, name) == 0 : all->v[i].func == func) {
			sb_free(&b);
			return &all->v[i];
		}
		sb_printf(
			&b, "%s%lld %s", i ? ", " : "", (long long)all->v[i].func, all->v[i].name);
	}
	if (name)
		err_set(e, INCORE_USAGE, "no-such-kernel", "no kernel %s; there are %s", name,
			b.p ? b.p : "none");
	else
		err_set(e, INCORE_USAGE, "no-such-kernel",
			"no kernel of func id %lld; there are %s", (long long)func,
			b.p ? b.p : "none");
	sb_free(&b);
	return NULL;
}
