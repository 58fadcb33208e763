/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sass.c: the decoder against a disassembler's words, for instructions of our own kernels as
 * compiled for each architecture: tests/data/sass/sm_<n>.txt has one of every kind, code.txt.zst
 * one of every shape of the kernels in tests/gpu/sass (tests/gpu/disassembly.py makes it).
 */
#include "isa/sass/sass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/file.h"
#include "codec/zstd.h"

static const unsigned architectures[] = {75, 80, 86, 89, 90, 100, 120};

struct fixture {
	unsigned sm;
	uint64_t lo, hi;
	char writes[160], reads[160], text[200];
	uint8_t bytes[16];
	struct sass_inst inst;
};

static void fail_fixture(
	const struct fixture *f, const char *what, const char *got, const char *want)
{
	fail_msg("sm_%u %016llx %016llx %s: %s: got %s, want %s", f->sm, (unsigned long long)f->lo,
		(unsigned long long)f->hi, f->text, what, got, want);
}

static bool parse_fixture(struct fixture *f, const char *line)
{
	unsigned long long lo, hi;

	if (sscanf(line, "%llx %llx %159s %159s %199[^\n]", &lo, &hi, f->writes, f->reads,
		    f->text) != 5)
		return false;
	f->lo = lo;
	f->hi = hi;
	for (int i = 0; i < 8; i++) {
		f->bytes[i] = (uint8_t)(lo >> 8 * i);
		f->bytes[8 + i] = (uint8_t)(hi >> 8 * i);
	}
	f->inst = sass_decode(f->sm, f->bytes);
	return true;
}

/* "R4-5,R8,P0": registers written, or read with the guard's among them; as the file has them. */
static const char *registers_of(const struct sass_inst *i, bool is_write)
{
	static const char *const names[] = {"R", "UR", "P", "UP"};
	static char text[1024];
	bool used[4][257] = {{false}};
	size_t at = 0;

	for (unsigned k = 0; k < i->n_operands; k++)
		for (unsigned r = 0; r < i->operand[k].n; r++)
			if (i->operand[k].is_write == is_write)
				used[i->operand[k].file][i->operand[k].first + r] = true;
	if (!is_write && i->guard != SASS_NO_PRED)
		used[i->is_guard_uniform ? SASS_FILE_UP : SASS_FILE_P][i->guard] = true;
	text[0] = 0;
	for (unsigned f = 0; f < 4; f++)
		for (unsigned r = 0, end; r < 256; r = end + 1) {
			for (end = r; used[f][end]; end++)
				;
			if (end == r)
				continue;
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "%s%s%u", at ? "," : "", names[f], r);
			if (end > r + 1)
				at += (size_t)snprintf(
					text + at, sizeof(text) - at, "-%u", end - 1);
		}
	return at ? text : "-";
}

static void check_registers(const struct fixture *f)
{
	const char *got;

	if (f->writes[0] == '?')
		return;
	got = registers_of(&f->inst, true);
	if (strcmp(got, f->writes))
		fail_fixture(f, "writes", got, f->writes);
	got = registers_of(&f->inst, false);
	if (strcmp(got, f->reads))
		fail_fixture(f, "reads", got, f->reads);
}

static const char *mnemonic_of(const struct fixture *f)
{
	const char *space = strchr(f->text, ' ');

	return f->text[0] == '@' && space ? space + 1 : f->text;
}

static const char *sass_class_name(enum sass_class c)
{
	static const char *const names[SASS_CLASSES] = {"unknown", "fma", "alu", "half", "double",
		"xu", "uniform", "tensor", "tensor-async", "load-global", "store-global",
		"load-shared", "store-shared", "load-local", "store-local", "load-const",
		"atomic-global", "atomic-shared", "async-copy", "async-bulk", "tensor-memory",
		"texture", "surface", "shuffle", "special", "barrier", "mbarrier", "warpgroup",
		"fence", "depbar", "converge", "branch", "call", "return", "exit", "control"};

	return c < SASS_CLASSES ? names[c] : names[SASS_UNKNOWN];
}

static void check_name(const struct fixture *f)
{
	const char *want = mnemonic_of(f), *name;
	char text[128];
	size_t n = strcspn(want, ". "), own;

	sass_text(f->sm, f->bytes, &f->inst, text, sizeof(text));
	name = text[0] == '@' ? strchr(text, ' ') + 1 : text;
	own = strcspn(name, ". ");
	if (!strncmp(want, "REDG", 4)) /* sm_90's word for RED */
		n = 3;
	if (n != own || strncmp(name, want, n))
		fail_fixture(f, "name", name, want);
}

/* Each part of our own short text stands in the disassembler's: "LDG.128" in "LDG.E.128.STRONG". */
static void check_parts(const struct fixture *f)
{
	char own[128], *word = own, *rest;
	const char *mnemonic = mnemonic_of(f);
	char theirs[80];

	sass_text(f->sm, f->bytes, &f->inst, own, sizeof(own));
	snprintf(theirs, sizeof(theirs), "%.*s.", (int)strcspn(mnemonic, " "), mnemonic);
	if (own[0] == '@')
		word = strchr(own, ' ') + 1;
	word[strcspn(word, " ")] = 0;
	for (word = strtok_r(word, ".", &rest); (word = strtok_r(NULL, ".", &rest));) {
		char part[66];

		snprintf(part, sizeof(part), ".%s.", word);
		if (!strstr(theirs, part))
			fail_fixture(f, "part", part, theirs);
	}
}

/* Rows of each class, and those whose operands are all understood. */
static unsigned n_rows[SASS_CLASSES], n_written[SASS_CLASSES];

/* Behind the mnemonic; what says how a register is cached or a matrix stored is no operand. */
static void operands_of(const char *text, char *out, size_t size)
{
	static const char *const parts[] = {".reuse", ".ROW", ".COL"};
	const char *mnemonic = text[0] == '@' ? strchr(text, ' ') + 1 : text;
	char *p;

	snprintf(out, size, "%s", mnemonic + strcspn(mnemonic, " "));
	for (size_t i = 0; i < 3; i++)
		while ((p = strstr(out, parts[i])))
			memmove(p, p + strlen(parts[i]), strlen(p + strlen(parts[i])) + 1);
	while ((p = strstr(out, " ,")))
		memmove(p, p + 1, strlen(p));
}

/* What our text says it knows equals the disassembler's, to the letter. */
static void check_operands(const struct fixture *f)
{
	char own[128], got[200], want[200];

	n_rows[f->inst.inst_class]++;
	if (!sass_text(f->sm, f->bytes, &f->inst, own, sizeof(own)))
		return;
	n_written[f->inst.inst_class]++;
	operands_of(own, got, sizeof(got));
	operands_of(f->text, want, sizeof(want));
	if (strcmp(got, want))
		fail_fixture(f, "operands", got, want);
}

static void check_control(const struct fixture *f)
{
	const struct sass_inst *i = &f->inst;
	bool is_guarded = f->text[0] == '@';

	if (i->stall != (f->hi >> 41 & 15) || i->set_write != (f->hi >> 46 & 7) ||
		i->set_read != (f->hi >> 49 & 7) || i->reuse != (f->hi >> 58 & 15) ||
		i->yield != (f->hi >> 45 & 1))
		fail_fixture(f, "control codes", "other", "as in the upper half");
	if (is_guarded != !!(i->flags & SASS_GUARDED))
		fail_fixture(f, "guard", is_guarded ? "none" : "one", f->text);
	if (is_guarded && i->is_guard_negated != (f->text[1] == '!'))
		fail_fixture(f, "negated guard", "other", f->text);
}

static void check_branch(const struct fixture *f)
{
	const char *mnemonic = mnemonic_of(f), *distance = strpbrk(mnemonic, "+-");
	bool is_branch = !strncmp(mnemonic, "BRA", 3) || !strncmp(mnemonic, "CALL", 4) ||
			 !strncmp(mnemonic, "BSSY", 4);
	char got[32];

	if (!is_branch || !distance || f->inst.flags & SASS_INDIRECT)
		return;
	snprintf(got, sizeof(got), "%+lld", (long long)f->inst.branch);
	if (strcmp(got, distance))
		fail_fixture(f, "distance", got, distance);
}

static void check_class(const struct fixture *f)
{
	static const struct {
		const char *name;
		enum sass_class want;
	} cases[] = {{"FFMA", SASS_FMA}, {"IMAD", SASS_FMA}, {"IADD3", SASS_ALU},
		{"LOP3", SASS_ALU}, {"HFMA2", SASS_HALF}, {"DFMA", SASS_DOUBLE}, {"MUFU", SASS_XU},
		{"UIADD3", SASS_UNIFORM}, {"HMMA", SASS_TENSOR}, {"IMMA", SASS_TENSOR},
		{"DMMA", SASS_TENSOR}, {"QMMA", SASS_TENSOR}, {"HGMMA", SASS_TENSOR_ASYNC},
		{"QGMMA", SASS_TENSOR_ASYNC}, {"UTCHMMA", SASS_TENSOR_ASYNC},
		{"LDG", SASS_LOAD_GLOBAL}, {"STG", SASS_STORE_GLOBAL}, {"LDS", SASS_LOAD_SHARED},
		{"STS", SASS_STORE_SHARED}, {"LDSM", SASS_LOAD_SHARED}, {"STSM", SASS_STORE_SHARED},
		{"LDL", SASS_LOAD_LOCAL}, {"STL", SASS_STORE_LOCAL}, {"LDC", SASS_LOAD_CONST},
		{"LDCU", SASS_LOAD_CONST}, {"ULDC", SASS_LOAD_CONST}, {"ATOMG", SASS_ATOMIC_GLOBAL},
		{"RED", SASS_ATOMIC_GLOBAL}, {"REDG", SASS_ATOMIC_GLOBAL},
		{"ATOMS", SASS_ATOMIC_SHARED}, {"LDGSTS", SASS_ASYNC_COPY},
		{"UTMALDG", SASS_ASYNC_BULK}, {"UBLKCP", SASS_ASYNC_BULK},
		{"LDTM", SASS_TENSOR_MEMORY}, {"TEX", SASS_TEXTURE}, {"SULD", SASS_SURFACE},
		{"SHFL", SASS_SHUFFLE}, {"S2R", SASS_SPECIAL}, {"BAR", SASS_BARRIER},
		{"SYNCS", SASS_MBARRIER}, {"WARPGROUP", SASS_WARPGROUP}, {"MEMBAR", SASS_FENCE},
		{"DEPBAR", SASS_DEPBAR}, {"LDGDEPBAR", SASS_DEPBAR}, {"BSSY", SASS_CONVERGE},
		{"BSYNC", SASS_CONVERGE}, {"WARPSYNC", SASS_CONVERGE}, {"BRA", SASS_BRANCH},
		{"BRX", SASS_BRANCH}, {"CALL", SASS_CALL}, {"RET", SASS_RETURN},
		{"EXIT", SASS_EXIT}, {"NOP", SASS_CONTROL}};
	const char *mnemonic = mnemonic_of(f);
	size_t n = strcspn(mnemonic, ". ");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strlen(cases[i].name) == n && !strncmp(mnemonic, cases[i].name, n) &&
			f->inst.inst_class != cases[i].want)
			fail_fixture(f, "class", sass_class_name(f->inst.inst_class),
				sass_class_name(cases[i].want));
}

/* Words of the text that waits and groups are read from. */
static void check_groups(const struct fixture *f)
{
	const char *mnemonic = mnemonic_of(f);
	unsigned scoreboard, count;

	if (sscanf(mnemonic, "DEPBAR.LE SB%u, %x", &scoreboard, &count) == 2) {
		assert_true(f->inst.flags & SASS_COUNTER_WAIT);
		assert_int_equal(f->inst.counter, scoreboard);
		assert_int_equal(f->inst.count, count);
	}
	if (sscanf(mnemonic, "WARPGROUP.DEPBAR.LE gsb0, %x", &count) == 1) {
		assert_int_equal(f->inst.counter, SASS_COUNTER_WGMMA);
		assert_int_equal(f->inst.count, count);
	}
	if (strstr(mnemonic, "GMMA.")) /* "... R24, gsb0" ends a group */
		assert_int_equal(
			!!strstr(mnemonic, ", gsb0"), !!(f->inst.flags & SASS_GROUP_CLOSE));
	if (sscanf(mnemonic, "BAR.SYNC.DEFER_BLOCKING %x", &count) == 1) {
		assert_true(f->inst.flags & SASS_BLOCKS);
		assert_int_equal(f->inst.barrier, count);
	}
	if (!strncmp(mnemonic, "SYNCS.PHASECHK", 14))
		assert_true(f->inst.flags & SASS_TRY_WAIT);
}

static void check_all(const struct fixture *f)
{
	check_name(f);
	check_parts(f);
	check_operands(f);
	check_class(f);
	check_control(f);
	check_branch(f);
	check_registers(f);
	check_groups(f);
}

static unsigned check_file(unsigned sm)
{
	struct fixture f = {.sm = sm};
	char path[600], line[800];
	unsigned n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/sass/sm_%u.txt", getenv("INCORE_TEST_DATA"), sm);
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		if (line[0] == '#')
			continue;
		assert_true(parse_fixture(&f, line));
		check_all(&f);
		n++;
	}
	fclose(in);
	return n;
}

static void test_sass_fixtures(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++)
		assert_true(check_file(architectures[i]) > 300);
}

/* As measured, in percent; classes that are not named have no floor. */
static void test_sass_operands(void **state)
{
	static const unsigned floors[SASS_CLASSES] = {[SASS_FMA] = 99,
		[SASS_ALU] = 97,
		[SASS_HALF] = 100,
		[SASS_DOUBLE] = 100,
		[SASS_XU] = 100,
		[SASS_UNIFORM] = 99,
		[SASS_TENSOR] = 89,
		[SASS_LOAD_GLOBAL] = 97,
		[SASS_STORE_GLOBAL] = 97,
		[SASS_LOAD_SHARED] = 100,
		[SASS_STORE_SHARED] = 100,
		[SASS_LOAD_LOCAL] = 100,
		[SASS_STORE_LOCAL] = 100,
		[SASS_LOAD_CONST] = 100,
		[SASS_ATOMIC_GLOBAL] = 100,
		[SASS_ATOMIC_SHARED] = 100,
		[SASS_ASYNC_COPY] = 100,
		[SASS_SHUFFLE] = 100,
		[SASS_BARRIER] = 100,
		[SASS_MBARRIER] = 100,
		[SASS_DEPBAR] = 100};
	unsigned rows = 0, written = 0;

	(void)state;
	for (unsigned c = 0; c < SASS_CLASSES; c++) {
		if (n_written[c] * 100 < floors[c] * n_rows[c])
			fail_msg("%s: operands of %u of %u rows, the floor is %u %%",
				sass_class_name((enum sass_class)c), n_written[c], n_rows[c],
				floors[c]);
		rows += n_rows[c];
		written += n_written[c];
	}
	assert_true(rows > 2800 && written * 100 >= rows * 93);
}

/* Rows of an architecture that all have operands, at least; as measured. */
static const struct agreement {
	unsigned sm, n_rows, n_written;
} agreements[] = {{75, 732, 710}, {80, 764, 742}, {86, 766, 744}, {87, 771, 747}, {88, 766, 744},
	{89, 772, 746}, {90, 841, 802}, {100, 862, 810}, {103, 865, 813}, {110, 848, 785},
	{120, 824, 769}};

static void check_agreement(unsigned sm, unsigned rows, unsigned written)
{
	for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++)
		if (agreements[i].sm == sm) {
			assert_int_equal(rows, agreements[i].n_rows);
			assert_true(written >= agreements[i].n_written);
			return;
		}
	fail_msg("sm_%u is not expected", sm);
}

static unsigned sum_of(const unsigned *v)
{
	unsigned sum = 0;

	for (unsigned c = 0; c < SASS_CLASSES; c++)
		sum += v[c];
	return sum;
}

/* Our kernels as the vendor's disassembler reads them: what we write is what it writes. */
static void test_sass_code(void **state)
{
	char path[600], *text, *line, *rest = NULL;
	struct file_data file = {0};
	struct fixture f = {0};
	unsigned rows = 0, written = 0, n = 0;
	unsigned long long size;

	(void)state;
	snprintf(path, sizeof(path), "%s/sass/code.txt.zst", getenv("INCORE_TEST_DATA"));
	assert_true(file_load(&file, path, NULL));
	size = ZSTD_getFrameContentSize(file.data, file.size);
	assert_true(size > 0 && size < 1u << 24);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_true(zstd_unpack(file.data, file.size, text, (size_t)size, NULL));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] != '#') {
			assert_true(parse_fixture(&f, line));
			check_all(&f);
			continue;
		}
		if (f.sm)
			check_agreement(f.sm, sum_of(n_rows) - rows, sum_of(n_written) - written);
		rows = sum_of(n_rows);
		written = sum_of(n_written);
		assert_int_equal(sscanf(line, "# %u", &f.sm), 1);
		n++;
	}
	check_agreement(f.sm, sum_of(n_rows) - rows, sum_of(n_written) - written);
	assert_int_equal(n, sizeof(agreements) / sizeof(agreements[0]));
	free(text);
	file_unload(&file);
}

static void check_text(uint64_t lo, uint64_t hi, const char *want)
{
	uint8_t bytes[16];
	struct sass_inst inst;
	char text[80];

	for (int i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(lo >> 8 * i);
		bytes[8 + i] = (uint8_t)(hi >> 8 * i);
	}
	inst = sass_decode(90, bytes);
	sass_text(90, bytes, &inst, text, sizeof(text));
	assert_string_equal(text, want);
}

static void test_sass_text(void **state)
{
	(void)state;
	check_text(0x000000061c047981, 0x000ea8000c1e1d00, "LDG.128 R4, desc[UR6][R28.64]");
	check_text(0x00000000000079c5, 0x000fe20000000000, "WARPGROUP.ARRIVE");
	check_text(0x00008000000079c5, 0x000fe40000010100, "WARPGROUP.DEPBAR gsb0, 0x1");
	check_text(0x0000000000007b1d, 0x000fec0000010000, "BAR.SYNC 0x0");
	check_text(0x00000000000081ff, 0x000fec0000010000, "@!P0 ?");
}

/* Every pattern gives an answer whose parts are in their ranges. */
static void test_sass_any_bits(void **state)
{
	uint64_t v = 1;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		uint8_t bytes[16];
		struct sass_inst i;
		char text[96];

		for (int b = 0; b < 16; b++) {
			v = v * 6364136223846793005u + 1442695040888963407u;
			bytes[b] = (uint8_t)(v >> 56);
		}
		i = sass_decode(architectures[round % 7], bytes);
		sass_text(architectures[round % 7], bytes, &i, text, 1 + round % sizeof(text));
		assert_true(strlen(text) <= round % sizeof(text));
		assert_true(i.inst_class < SASS_CLASSES && i.n_operands <= SASS_MOST_OPERANDS);
		for (unsigned k = 0; k < i.n_operands; k++)
			assert_true(i.operand[k].n && i.operand[k].first + i.operand[k].n <= 255);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sass_fixtures),
		cmocka_unit_test(test_sass_operands), /* of the rows that the first one read */
		cmocka_unit_test(test_sass_code),
		cmocka_unit_test(test_sass_text),
		cmocka_unit_test(test_sass_any_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
