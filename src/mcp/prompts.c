/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.c: prompts for common tasks, chosen by name. */
#include "mcp/internal.h"

struct prompt {
	const char *name, *doc;
	const char *first, *second; /* names of arguments; NULL: no argument */
	const char *text;	    /* %s: the arguments, in order */
};

static const struct prompt prompts[] = {
	{"bottleneck", "which instruction of a kernel is waiting, for what, and what to change",
		"path", NULL,
		"Find what limits the kernel of the capture %s. First check: if is_no is true, say why the capture cannot be trusted and stop. "
		"Then summary for the verdict, hot (by line, then by instr) for the rows, waits for the producers, isa around the costliest row, "
		"why for what cannot be seen from the classes. Name the source line, the instruction, what it waits for and how many cycles that costs. "
		"Propose one change; where there is a tool whatif or advise, give its interval, and say that it is an estimate. Quote the evidence word of every figure."},
	{"verify", "did a change help, and where", "before", "after",
		"Compare the captures %s (before) and %s (after). Check both. Use diff by line and by instr; trust a difference only beyond the noise it states. "
		"Say what moved per execution, whether the kernel as a whole is faster, and which line got worse. End with a gate condition for CI."},
	{"trust", "can the figures of a capture be believed", "path", NULL,
		"Can the capture %s be trusted? Use check and info. For each finding say what it means for the figures and how to take a better capture."},
};

static void put_argument(struct json_writer *w, const char *name)
{
	if (!name)
		return;
	json_w_object(w);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_cstr(w, "description", "a capture, as the tool captures lists them");
	json_w_kv_bool(w, "required", true);
	json_w_end(w);
}

void prompts_list(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_array(w, "prompts");
	EACH (const struct prompt, p, prompts, sizeof(prompts) / sizeof(prompts[0])) {
		json_w_object(w);
		json_w_kv_cstr(w, "name", p->name);
		json_w_kv_cstr(w, "description", p->doc);
		json_w_kv_array(w, "arguments");
		put_argument(w, p->first);
		put_argument(w, p->second);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

/* Appends the text with its arguments filled in. */
static void fill(struct strbuf *out, const char *text, const char *const arguments[2])
{
	unsigned n = 0;

	for (; *text; text++) {
		if (text[0] == '%' && text[1] == 's') {
			sb_puts(out, arguments[n++]);
			text++;
		} else {
			sb_putc(out, *text);
		}
	}
}

bool prompts_get(struct str params, struct arena *a, struct json_writer *w, struct incore_error *e)
{
	const char *name = json_text(json_member(params, "name"), a), *given[2] = {NULL, NULL};
	struct str arguments = json_member(params, "arguments");
	const struct prompt *found = NULL;
	struct strbuf text = {0};

	EACH (const struct prompt, p, prompts, sizeof(prompts) / sizeof(prompts[0]))
		if (name && strcmp(p->name, name) == 0)
			found = p;
	if (!found)
		return err_set(e, INCORE_USAGE, "no-such-prompt", "there is no prompt '%s'",
			name ? name : "");
	given[0] = json_text(json_member(arguments, found->first), a);
	given[1] = found->second ? json_text(json_member(arguments, found->second), a) : "";
	if (!given[0] || !given[1])
		return err_set(e, INCORE_USAGE, "missing-argument", "the prompt %s expects %s%s%s",
			found->name, found->first, found->second ? " and " : "",
			found->second ? found->second : "");
	fill(&text, found->text, given);
	json_w_object(w);
	json_w_kv_cstr(w, "description", found->doc);
	json_w_kv_array(w, "messages");
	json_w_object(w);
	json_w_kv_cstr(w, "role", "user");
	json_w_kv_object(w, "content");
	json_w_kv_cstr(w, "type", "text");
	json_w_kv_cstr(w, "text", text.p);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
	sb_free(&text);
	return true;
}
