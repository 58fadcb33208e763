/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.c: the first available evidence decides, in order of certainty: the user, then what the
 * compiler states about the functions, then a folder for mixed kernels (nothing else shows that one
 * source has both sides), then the core that a dump recorded (its sources may have been moved),
 * then a folder for one side, then that the code reads its block or lane, which only a kernel of
 * several cores needs. Macros and ops only allow a guess: good enough to time a kernel, not to
 * claim that a run is repeated, so a replay passes no text and gets no guess.
 */
#include "model/record/cores.h"

static const char *const CORES[] = {"auto", "aic", "aiv", "mix"};

const char *kernel_core_name(enum kernel_core core)
{
	return CORES[core];
}

bool kernel_core_of(struct str word, enum kernel_core *out)
{
	for (unsigned i = 0; i < sizeof(CORES) / sizeof(*CORES); i++)
		if (str_is(word, CORES[i])) {
			*out = (enum kernel_core)i;
			return true;
		}
	return false;
}

const char *kernel_class_name(enum kernel_class c)
{
	static const char *const NAMES[] = {"unknown", "aic-only", "aiv-only", "spmd-mix"};

	return NAMES[c];
}

/* The folder nearest to the file that is named after a core; *is_usual: it lies in "kernels". */
static enum kernel_core core_of_folder(const char *path, bool *is_usual)
{
	struct str rest = str_of(path), part, before = {0};
	enum kernel_core core, found = KERNEL_ON_ANY;

	while (str_find(rest, "/") >= 0 && str_cut(&rest, "/", &part)) {
		if (kernel_core_of(part, &core) && core != KERNEL_ON_ANY) {
			found = core;
			*is_usual = str_is(before, "kernels");
		}
		before = part;
	}
	return found;
}

/* Guesses from the macros that the source tests, else from the ops that it uses. */
static enum kernel_core guess_core(struct str text, const char **reason)
{
	static const char *const CUBE[] = {
		"TMATMUL", "TGEMV", "TileType::Mat", "TileLeft", "TileAcc"};
	bool asks_vec = str_has(text, "__DAV_VEC__"), asks_cube = str_has(text, "__DAV_CUBE__");

	*reason = "it asks by macros for which core it is compiled";
	if (asks_vec && asks_cube)
		return KERNEL_ON_MIX;
	if (asks_vec || asks_cube)
		return asks_cube ? KERNEL_ON_AIC : KERNEL_ON_AIV;
	*reason = "it has ops of the cube";
	for (size_t i = 0; i < sizeof(CUBE) / sizeof(*CUBE); i++)
		if (str_has(text, CUBE[i]))
			return KERNEL_ON_AIC;
	*reason = "it has no op of the cube";
	return KERNEL_ON_AIV;
}

static enum kernel_core core_of_kinds(const struct core_evidence *v)
{
	if (v->has_cube && v->has_vector)
		return KERNEL_ON_MIX;
	return v->has_cube ? KERNEL_ON_AIC : KERNEL_ON_AIV;
}

static enum kernel_core decide_core(
	const struct core_evidence *v, enum kernel_core folder, const char **guess)
{
	if (v->said != KERNEL_ON_ANY)
		return v->said;
	if (v->has_kinds)
		return core_of_kinds(v);
	if (folder == KERNEL_ON_MIX)
		return folder;
	if (v->recorded != KERNEL_ON_ANY)
		return v->recorded;
	if (folder != KERNEL_ON_ANY)
		return folder;
	if (v->asks)
		return KERNEL_ON_MIX;
	return v->text.n ? guess_core(v->text, guess) : KERNEL_ON_ANY;
}

/* A kernel that reads its block or lane is KERNEL_SPMD_MIX on whichever core it runs, unless the
 * compiler states the kinds of its functions. */
static enum kernel_class cores_class_of(
	const struct core_evidence *v, enum kernel_core folder, enum kernel_core core)
{
	static const enum kernel_class CLASSES[] = {
		KERNEL_CLASS_UNKNOWN, KERNEL_AIC_ONLY, KERNEL_AIV_ONLY, KERNEL_SPMD_MIX};

	if (!v->has_kinds && (folder == KERNEL_ON_MIX || v->asks))
		return KERNEL_SPMD_MIX;
	return CLASSES[core];
}

static const char *cores_reason_of(const struct core_evidence *v, enum kernel_core folder,
	bool is_usual, enum kernel_core core, const char *guess)
{
	static const char *const STATED[] = {"", "its core type is stated as aic",
		"its core type is stated as aiv", "its core type is stated"};
	static const char *const FOLDERS[2][4] = {
		{"", "it lies in a folder named aic", "it lies in a folder named aiv",
			"it lies in a folder named mix"},
		{"", "it lies in kernels/aic", "it lies in kernels/aiv", "it lies in kernels/mix"}};

	if (v->has_kinds)
		return "its functions say of what kind they are";
	if (folder == KERNEL_ON_MIX)
		return FOLDERS[is_usual][folder];
	if (v->said == KERNEL_ON_MIX)
		return STATED[v->said];
	if (v->asks)
		return v->asks;
	if (v->said != KERNEL_ON_ANY || v->recorded != KERNEL_ON_ANY)
		return STATED[core];
	if (folder != KERNEL_ON_ANY)
		return FOLDERS[is_usual][folder];
	if (guess)
		return guess;
	return "nothing says on which core it runs: neither its path (kernels/aic, kernels/aiv, kernels/mix), nor its code, nor a stated core type";
}

struct core_answer cores_decide(const struct core_evidence *v)
{
	const char *guess = NULL;
	bool is_usual = false;
	enum kernel_core folder = core_of_folder(v->path, &is_usual);
	enum kernel_core core = decide_core(v, folder, &guess);

	return (struct core_answer){core, cores_class_of(v, folder, core),
		cores_reason_of(v, folder, is_usual, core, guess)};
}
