/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_config.c: lists the kernels of a kernel_config.py without running it, or of an imported
 * module. */
#include "replay/source/kernel_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"

#define READ_LIMIT_MS 60000
#define IMPORT_MEMORY (UINT64_C(8) << 30)

/* Evaluates texts and paths made of constants, names, str(), Path(), "/", os.path.join() and the
 * parents of __file__. Prints one line per kernel, separated by tabs. */
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
	"    fields[3] = os.path.join(os.path.dirname(path), fields[3])\n"
	"    print('\\t'.join((f or '').replace('\\t', ' ').replace('\\n', ' ') for f in fields))\n"
	"out = sys.stdout\n"
	"def show(c):\n"
	"    words = c.get('platforms') or []\n"
	"    params = c.get('params') if isinstance(c.get('params'), dict) else {}\n"
	"    fields = ['case', str(c.get('name', '')), ' '.join(map(str, words if isinstance(words, (list, tuple)) else [words])), 'manual' if c.get('manual') else '',\n"
	"              ' '.join('%s=%s' % p for p in params.items() if isinstance(p[1], (int, str)))]\n"
	"    print(*(f.replace('\\t', ' ').replace('\\n', ' ') for f in fields), sep='\\t', file=out)\n"
	"def plain(n):\n"
	"    if isinstance(n, ast.Dict):\n"
	"        return {k.value: plain(v) for k, v in zip(n.keys, n.values) if isinstance(k, ast.Constant)}\n"
	"    try:\n"
	"        return ast.literal_eval(n)\n"
	"    except ValueError:\n"
	"        return None\n"
	"for node in ast.walk(tree):\n"
	"    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == 'CASES' for t in node.targets):\n"
	"        items = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]\n"
	"        for item in items:\n"
	"            c = plain(item)\n"
	"            if isinstance(c, dict) and isinstance(c.get('name'), str):\n"
	"                show(c)\n"
	"            else:\n"
	"                print('hidden\\t%d' % item.lineno)\n";

/* Imports the module, with stand-ins for packages that are not installed: only the lists of a scene
 * test matter. Its output is dropped. */
static const char IMPORTER[] =
	"import importlib.machinery, importlib.util, io, os, sys\n"
	"path = os.path.abspath(sys.argv[1])\n"
	"class Stand:\n"
	"    def __init__(self, *a, **k): pass\n"
	"    def __getattr__(self, name):\n"
	"        if name.startswith('__'):\n"
	"            raise AttributeError(name)\n"
	"        return Stand()\n"
	"    def __call__(self, *a, **k):\n"
	"        return a[0] if len(a) == 1 and not k and callable(a[0]) else Stand()\n"
	"    def __mro_entries__(self, bases): return ()\n"
	"    def __iter__(self): return iter(())\n"
	"class Missing:\n"
	"    def find_spec(self, name, path=None, target=None):\n"
	"        return importlib.machinery.ModuleSpec(name, self, is_package=True)\n"
	"    def create_module(self, spec): return None\n"
	"    def exec_module(self, module): module.__getattr__ = Stand().__getattr__\n"
	"sys.meta_path.append(Missing())\n"
	"sys.path.insert(0, os.path.dirname(path))\n"
	"sys.argv, out, sys.stdout = [path], sys.stdout, io.StringIO()\n"
	"loader = importlib.machinery.SourceFileLoader('case', path)\n" /* whatever it is called */
	"spec = importlib.util.spec_from_file_location('case', path, loader=loader)\n"
	"case = sys.modules['case'] = importlib.util.module_from_spec(spec)\n"
	"spec.loader.exec_module(case)\n"
	"def walk(v, depth):\n"
	"    if isinstance(v, dict) and isinstance(v.get('func_id'), int) and isinstance(v.get('source'), (str, os.PathLike)):\n"
	"        source = os.path.join(os.path.dirname(path), v['source'])\n"
	"        fields = [v['func_id'], v.get('name', ''), v.get('core_type', ''), source]\n"
	"        lines['\\t'.join(str(f).replace('\\t', ' ').replace('\\n', ' ') for f in fields)] = True\n"
	"    elif depth < 8 and isinstance(v, (dict, list, tuple)):\n"
	"        for x in list(v.values()) if isinstance(v, dict) else v:\n"
	"            walk(x, depth + 1)\n"
	"    elif isinstance(v, type) and v.__module__ == 'case':\n"
	"        walk(dict(vars(v)), depth + 1)\n"
	"lines = {}\n"
	"walk(dict(vars(case)), 0)\n"
	"print(*lines, sep='\\n', file=out)\n"
	"def show(c):\n"
	"    words = c.get('platforms') or []\n"
	"    params = c.get('params') if isinstance(c.get('params'), dict) else {}\n"
	"    fields = ['case', str(c.get('name', '')), ' '.join(map(str, words if isinstance(words, (list, tuple)) else [words])), 'manual' if c.get('manual') else '',\n"
	"              ' '.join('%s=%s' % p for p in params.items() if isinstance(p[1], (int, str)))]\n"
	"    print(*(f.replace('\\t', ' ').replace('\\n', ' ') for f in fields), sep='\\t', file=out)\n"
	"for v in [case] + [x for x in vars(case).values() if isinstance(x, type) and x.__module__ == 'case']:\n"
	"    for c in list(vars(v).get('CASES') or ()):\n"
	"        if isinstance(c, dict):\n"
	"            show(c)\n";

static bool take_case(struct arena *a, struct str line, config_cases *out, struct incore_error *e)
{
	struct config_case c = {0};
	const char *manual, **texts[] = {&c.name, &c.platforms, &manual, &c.params};

	for (unsigned i = 0; i < 4; i++) {
		struct str part = line;

		if (!str_cut(&line, "\t", &part))
			part = line;
		*texts[i] = arena_strndup(a, part.p, part.n);
		if (!*texts[i])
			return err_nomem(e);
	}
	c.is_manual = *manual;
	return VEC_PUSH(out, c) || err_nomem(e);
}

const struct config_case *config_case_find(const config_cases *all, const char *name,
	const char *path, uint32_t hidden_line, struct incore_error *e)
{
	struct strbuf b = {0};

	if (!name && all->n)
		return &all->v[0];
	for (size_t i = 0; i < all->n; i++) {
		if (strcmp(all->v[i].name, name) == 0) {
			sb_free(&b);
			return &all->v[i];
		}
		sb_printf(&b, "%s%s", i ? ", " : "", all->v[i].name);
	}
	if (hidden_line)
		sb_printf(&b, "%sfurther ones of line %u are computed: --import-case shows them",
			b.n ? "; " : "", hidden_line);
	err_set(e, INCORE_USAGE, "no-such-case", "%s has no case %s; there are %s", path,
		name ? name : "", b.p ? b.p : "none");
	sb_free(&b);
	return NULL;
}

uint64_t config_case_param(const struct config_case *c, const char *name, uint64_t none)
{
	struct str rest = str_of(c ? c->params : ""), part, key;
	uint64_t v;

	while (rest.n) {
		if (!str_cut(&rest, " ", &part)) {
			part = rest;
			rest.n = 0;
		}
		if (str_cut(&part, "=", &key) && str_is(key, name) && str_to_u64(part, &v))
			return v;
	}
	return none;
}

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

/* Runs python3 and reads its output; false with status 5 if it is missing, 3 with the last line of
 * its output if it fails. */
static bool run_python(const struct process_spec *spec, const char *path, struct incore_error *e)
{
	struct process_result r;

	if (!process_run(spec, &r, e))
		return false;
	if (r.end == PROCESS_NOT_STARTED)
		return err_set(e, INCORE_MISSING, "no-python",
			"%s is read by python3, which cannot be started: %s; --source names a kernel without it",
			path, strerror(r.code));
	if (r.end != PROCESS_EXITED || r.code != 0) {
		struct str rest = {spec->output->p ? spec->output->p : "", spec->output->n}, line,
			   last = {"", 0};

		while (str_cut(&rest, "\n", &line))
			last = line.n ? line : last;
		return err_file(e, "bad-config", path, INCORE_NO_OFFSET, "python3 says: %.*s",
			STR_ARG(last));
	}
	return true;
}

/* A module is untrusted code: behind walls it can only read its own folder and the modules of this
 * python3, and cannot write. */
static bool import_module(struct arena *a, const char *path, bool is_unsafe, struct strbuf *text,
	struct incore_error *e)
{
	static const char PLACES[] =
		"import sys; print(sys.executable, sys.prefix, sys.base_prefix, *sys.path, sep='\\n')";
	const char *ask[] = {"python3", "-c", PLACES, NULL};
	const char *argv[] = {"python3", "-B", "-c", IMPORTER, path, NULL};
	const char *readable[] = {
		arena_printf(a, "%.*s.", (int)(path_base(path) - path), path), NULL};
	const char *writable[] = {"/dev/null", NULL}, *given = getenv("PYTHONPATH");
	const char *env[] = {
		"LC_ALL=C.UTF-8", given ? arena_printf(a, "PYTHONPATH=%s", given) : NULL, NULL};
	VEC(const char *) programs = {0};
	struct walls walls = {.readable = readable,
		.writable = writable,
		.file_bytes = 1,
		.cpu_s = READ_LIMIT_MS / 1000};
	struct process_spec spec = {.argv = ask, .output = text, .limit_ms = READ_LIMIT_MS};
	struct str rest, line;
	bool ok = (is_unsafe || walls_are_possible(e)) && run_python(&spec, path, e);

	rest = (struct str){text->p ? text->p : "", text->n};
	while (ok && str_cut(&rest, "\n", &line))
		ok = !line.n ||
		     VEC_PUSH(&programs, (const char *)arena_strndup(a, line.p, line.n)) ||
		     err_nomem(e);
	for (size_t i = 0; ok && walls_system[i]; i++)
		ok = VEC_PUSH(&programs, walls_system[i]) || err_nomem(e);
	ok = ok && (VEC_PUSH(&programs, (const char *)NULL) || err_nomem(e));
	if (ok) { /* the program itself, not a wrapper script */
		argv[0] = programs.v[0];
		walls.programs = programs.v;
		spec.argv = argv;
		spec.env = env;
		spec.is_env_whole = !is_unsafe;
		spec.walls = is_unsafe ? NULL : &walls;
		spec.memory_bytes = is_unsafe ? 0 : IMPORT_MEMORY;
		sb_reset(text);
		ok = run_python(&spec, path, e);
	}
	VEC_FREE(&programs);
	return ok;
}

struct modules { /* Python files of a folder that has no kernel_config.py */
	struct strbuf names;
	unsigned n;
};

static bool add_module(void *ctx, const char *name, struct incore_error *e)
{
	struct modules *m = ctx;

	(void)e;
	if (str_ends(str_of(name), ".py") && m->n < 8)
		sb_printf(&m->names, "%s%s", m->n++ ? ", " : "", name);
	return true;
}

/* Says what is in a folder instead. */
static bool no_config(const char *folder, const char *file, struct incore_error *e)
{
	struct modules m = {0};

	if (file_is_dir(folder))
		dir_each(folder, add_module, &m, NULL);
	err_file(e, "no-config", file, INCORE_NO_OFFSET,
		m.n ? "no such file; the folder has %s: a scene test is named itself (incore replay MODULE.py)"
		    : "no such file%s",
		m.n ? m.names.p : "");
	sb_free(&m.names);
	return false;
}

static bool take_text(struct arena *a, struct str rest, config_kernels *kernels,
	config_cases *cases, uint32_t *hidden_line, struct incore_error *e)
{
	struct str line, word;
	bool ok = true;

	while (ok && str_cut(&rest, "\n", &line)) {
		struct str body = line;
		uint64_t at;

		if (str_cut(&body, "\t", &word) && str_is(word, "case"))
			ok = take_case(a, body, cases, e);
		else if (str_is(word, "hidden"))
			*hidden_line = str_to_u64(body, &at) && !*hidden_line ? (uint32_t)at
									      : *hidden_line;
		else
			ok = take_line(a, line, kernels, e);
	}
	return ok;
}

bool config_module_read(struct arena *a, const char *path, enum config_way way,
	config_kernels *kernels, config_cases *cases, uint32_t *hidden_line, struct incore_error *e)
{
	const char *file = file_is_dir(path) ? arena_printf(a, "%s/kernel_config.py", path) : path;
	const char *argv[] = {"python3", "-I", "-c", READER, file, NULL};
	struct strbuf text = {0};
	struct process_spec spec = {.argv = argv, .output = &text, .limit_ms = READ_LIMIT_MS};
	bool ok;

	*hidden_line = 0;
	if (!file)
		return err_nomem(e);
	if (!file_exists(file))
		return no_config(path, file, e);
	ok = way == CONFIG_PARSED ? run_python(&spec, file, e)
				  : import_module(a, file, way == CONFIG_IMPORTED_UNSAFE, &text, e);
	ok = ok && take_text(a, (struct str){text.p ? text.p : "", text.n}, kernels, cases,
			   hidden_line, e);
	sb_free(&text);
	return ok;
}

bool kernel_config_read(struct arena *a, const char *path, enum config_way way, config_kernels *out,
	struct incore_error *e)
{
	config_cases cases = {0};
	uint32_t hidden_line;
	bool ok = config_module_read(a, path, way, out, &cases, &hidden_line, e);

	VEC_FREE(&cases);
	if (ok && !out->n)
		ok = err_file(e, "bad-config", path, INCORE_NO_OFFSET,
			"no kernels: expected dicts with func_id and source%s",
			way == CONFIG_PARSED ? "; --import-case runs a module that computes them"
					     : "");
	return ok;
}

const struct config_kernel *kernel_config_find(
	const config_kernels *all, const char *name, int64_t func, struct incore_error *e)
{
	const struct config_kernel *found = NULL;
	struct strbuf b = {0};

	for (size_t i = 0; i < all->n; i++) {
		if (name ? strcmp(all->v[i].name, name) == 0 : all->v[i].func == func) {
			if (found && strcmp(found->source, all->v[i].source) != 0) {
				err_set(e, INCORE_USAGE, "ambiguous",
					"both %s and %s are meant; name the --source",
					found->source, all->v[i].source);
				sb_free(&b);
				return NULL;
			}
			found = &all->v[i];
		}
		sb_printf(
			&b, "%s%lld %s", i ? ", " : "", (long long)all->v[i].func, all->v[i].name);
	}
	if (!found && name)
		err_set(e, INCORE_USAGE, "no-such-kernel", "no kernel %s; there are %s", name,
			b.p ? b.p : "none");
	else if (!found)
		err_set(e, INCORE_USAGE, "no-such-kernel",
			"no kernel of func id %lld; there are %s", (long long)func,
			b.p ? b.p : "none");
	sb_free(&b);
	return found;
}
