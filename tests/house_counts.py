# SPDX-License-Identifier: Apache-2.0
"""tools/house_count.py on a tree of a few files whose numbers are known; a part of runner.py."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import house_count  # noqa: E402

TREE = {
    "src/cli/one/a.c": '''#include "cli/two/b.h"
/* struct comment { is none; gfx12 */
struct job {
	int n;
};
static const struct option_def options[] = {
	{0, "top", OPTION_TEXT, "N", NULL, NULL, "trace_kind(t) == KIND_SAMPLES"},
	{'f', "follow-links", OPTION_FLAG, NULL, NULL, NULL, "gone"},
};

static int run(struct job *j)
{
	return j->n;
}

int a_ask(const struct trace *t)
{
	if (trace_kind(t) == KIND_SAMPLES && t->meta.vendor == VENDOR_AMD)
		return run(NULL);
	return trace_kind(t) == KIND_PIPES;
}
''',
    "src/cli/one/a.h": "int a_ask(const struct trace *t);\n#define OPT_DEPTH 0, \"depth\", OPTION_COUNT, \"N\", false\n",
    "src/cli/two/b.c": '''#include "cli/one/a.h"
#include "cli/two/b.h"
struct job {
	int m;
};
static const struct option_def more[] = {
	{.name = "top", .type = OPTION_COUNT},
};
static void *
run(void)
{
	return NULL;
}
__attribute__((noinline)) bool(b_ask)(
	int n, const char *x)
{
	return a_ask(run());
}
''',
    "src/cli/two/b.h": "bool b_ask(int n, const char *x);\n",
    "src/trace/kind.h": '''static inline bool is_sampled(const struct trace *t)
{
	return trace_kind(t) == KIND_SAMPLES && t->vendor == VENDOR_ASCEND;
}
''',
    "ui/panel.ts": "const word = 'gfx12';\n",
}


def counts(same, c):
    same("rooms", c["rooms"], {"cli": {"files": 4, "lines": 42, "functions": 4}, "trace": {"files": 1, "lines": 4, "functions": 1}})
    same("total", c["total"], {"files": 5, "lines": 46, "functions": 5})
    same("exported", c["exported"], {"names": 2, "used_in_no_other_file": 1, "used_in_one_other_file": 1})
    same("struct tags", c["struct_tags_in_several_files"], {"job": 2})
    same("static names", c["static_names_in_several_files"], {"run": 2})
    same("cycles", c["include_cycles"], {"sub_rooms": ["cli/one cli/two"], "with_own_files": []})
    same("options", c["options"], {"rows": 4, "names": 3, "several_types": {"top": ["COUNT", "TEXT"]}})
    same("gfx12", c["files_that_name"]["an AMD generation: gfx12"], 2)
    same("follow-links", c["files_that_name"]["an option of all verbs: follow-links"], 1)
    same("kinds", c["branches_on_the_kind_of_capture"], {"cli": 2})
    same("vendors", c["branches_on_the_vendor"], {"cli": 1})


def house_counts(same):
    with tempfile.TemporaryDirectory() as tree:
        for path, text in TREE.items():
            os.makedirs(os.path.join(tree, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(tree, path), "w") as f:
                f.write(text)
        program = [sys.executable, house_count.__file__, "--root", tree]
        counts(same, json.loads(subprocess.run([*program, "--json"], capture_output=True, check=True).stdout))
        said = subprocess.run(program, capture_output=True, text=True, check=True).stdout
        same("a line of the table", "exported functions                                     2" in said.splitlines(), True)
    same("width without colours", house_count.widest("a\n\x1b[1mbold\x1b[0m \u00b5s\n"), 7)
