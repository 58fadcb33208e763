/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h: one row for each note that a reader makes: its code, its kind, its line in
 * incore-notes(7), and what to do about it, which `incore check` says; "" where nothing is to be
 * done. The page is made of these rows (tools/note_page.py), and a test shows each code
 * (tools/check_house.py). The file has more lines because it is a table.
 */
#pragma once

#include "base/note.h"

struct note_entry {
	const char *code;
	enum note_kind kind;
	const char *advice; /* one line, or "" */
};

/* Looks up a row by its code; NULL if there is none, as of a note of a later version in a file. */
const struct note_entry *note_row(const char *code);

/* clang-format off */
#define NOTES(X) \
	X("absurd-counts", CLAMPED, \
		"Counts of instructions are larger than can be. They were cut to the largest possible count.", \
		"profile again: the counts of this report cannot be trusted") \
	X("aligned-sms", INFO, \
		"The clocks of the SMs were aligned by the timer that they share. The note has its smallest step. Its kind is *guessed* where the frequency is the stated one, not a measured one.", \
		"") \
	X("ambiguous-marker", GUESSED, \
		"Several code objects use one number of a marker for different names. The marker has one of these names.", \
		"") \
	X("args-left-out", LOST, \
		"Events have arguments that are not kept.", \
		"") \
	X("backwards", CLAMPED, \
		"Slices end before they begin. They were taken as empty.", \
		"simulate again if these slices matter: their lengths are not known") \
	X("bad-binary", DAMAGED, \
		"The kernel binary is not an ELF file that can be read, so source lines are missing.", \
		"copy the binary of the kernel beside the capture again") \
	X("bad-block", DAMAGED, \
		"A block of the container cannot be read. The note has its offset.", \
		"copy the file again; what the block held is missing") \
	X("bad-code-object", CONTRADICTORY, \
		"Markers of code objects make no sense.", \
		"put the code objects that ran beside the streams: without them instructions get no address") \
	X("bad-counter", LOST, \
		"Values of counters are negative, no numbers or of too many names. They were left out.", \
		"") \
	X("bad-csv-row", DAMAGED, \
		"Rows of a CSV file have no address, no number of calls or no cycles. They were left out.", \
		"copy the CSV file again: it was edited or cut") \
	X("bad-dump-line", DAMAGED, \
		"Lines of a dump of the simulator are not understood. They were left out.", \
		"simulate again, or use the version of the simulator that incore knows") \
	X("bad-duration", CLAMPED, \
		"Slices have a length that is negative or no number. They are shown with none.", \
		"") \
	X("bad-slot", LOST, \
		"Tokens of a stream name a wave slot that does not exist.", \
		"copy the streams again; if it stays, say which GPU and which rocprofv3 made them") \
	X("bad-snapshot-name", DAMAGED, \
		"A copy of a source file has a name that is no plain file name. It was not read.", \
		"decode the trace again into an empty directory") \
	X("bad-time", DAMAGED, \
		"Events have no usable time. They were left out.", \
		"") \
	X("bad-timestamp", LOST, \
		"Events have a time that is negative, no number or too large. They were left out.", \
		"simulate again if the events matter") \
	X("bare-array", INFO, \
		"The events are a bare array, without the object around them. Nothing is lost.", \
		"") \
	X("begin-without-end", GUESSED, \
		"Slices never end. They are shown up to the last time of the file.", \
		"") \
	X("chunk-missing", LOST, \
		"Chunks of a thread trace are missing. What comes after them is not decoded.", \
		"copy every chunk of the run: the numbers in their names have no gaps") \
	X("chunks-not-shown", INFO, \
		"The file has chunks that incore does not interpret.", \
		"") \
	X("clamped", CLAMPED, \
		"Lengths were cut to what 32 bits hold.", \
		"") \
	X("clamped-times", CLAMPED, \
		"Times or durations were out of range and were clamped.", \
		"trust no time of these waves; capture again") \
	X("cleaned-input", INFO, \
		"The input is output of *incore clean*. Its sub-lanes were folded back into their pipes.", \
		"") \
	X("clock-not-locked", INFO, \
		"The clock was not locked while the profiler ran: passes may have run at different clocks.", \
		"lock it (ncu --clock-control base), or compare ratios of one pass alone") \
	X("clock-range", CLAMPED, \
		"The clock of a stream ran out of its range and was held.", \
		"trust no time of this shader engine; capture again") \
	X("clock-unknown", GUESSED, \
		"Nothing states the clock, so one was assumed.", \
		"give the SoC or the clock") \
	X("coarser-clock", CLAMPED, \
		"A slice is so long that one cycle of the trace is longer than one unit of the file.", \
		"") \
	X("code-not-placed", UNMAPPED, \
		"No program of the trace begins where a function of the code given by --code does. It was not used.", \
		"give the code object of this run, or name it *_code_object_id_N.out") \
	X("code-source", INFO, \
		"The code is not from the capture's own code objects alone, or --code was given. The note says where each part is from.", \
		"") \
	X("core-json-differs", CONTRADICTORY, \
		"The trace of a core has other executions than the source that was read.", \
		"files of two runs may be mixed: simulate again into an empty directory") \
	X("core-name-collision", CONTRADICTORY, \
		"Two folders of the simulator belong to one sub-block. Other exports keep one of them.", \
		"") \
	X("core-without-logs", LOST, \
		"A core has fewer than two logs with content. It was not read.", \
		"simulate again, or leave the folder of this core out") \
	X("csv-differs", CONTRADICTORY, \
		"Two files of the producer state different totals for instructions.", \
		"files of two runs may be mixed: collect again into an empty directory") \
	X("cupti-refused", MISSING, \
		"CUPTI refused what the capture asked for. The note has its words.", \
		"let this user profile (NVreg_RestrictProfilingToAdminUsers=0), and see that no other profiler runs") \
	X("cut-trace", TRUNCATED, \
		"The file ends in the middle. What comes before its end was read.", \
		"copy the file again, or let the tool that wrote it finish") \
	X("damaged-code-object", DAMAGED, \
		"A code object cannot be read.", \
		"copy the code object again: without it instructions have no text") \
	X("damaged-cubin", DAMAGED, \
		"The code of a kernel cannot be read.", \
		"profile again: the file was cut or changed") \
	X("damaged-debug-info", DAMAGED, \
		"The debug information cannot be read, so source lines are missing.", \
		"compile again with -g or -lineinfo") \
	X("damaged-file", DAMAGED, \
		"A side file cannot be read and was left out. The note says which and why.", \
		"copy the file again") \
	X("damaged-metadata", DAMAGED, \
		"The metadata of the kernel cannot be read: registers and LDS are unknown.", \
		"copy the code object again") \
	X("damaged-records", DAMAGED, \
		"Records have no valid time, counter or event. They were left out.", \
		"") \
	X("damaged-stream", DAMAGED, \
		"The stream of a shader engine cannot be read. This engine is left out.", \
		"copy the stream again; totals are of the other engines") \
	X("damaged-wave-file", DAMAGED, \
		"A wave file cannot be read. Totals are of the other waves.", \
		"copy the wave file again, or decode the trace again") \
	X("decoder-compat", INFO, \
		"The trace was decoded by the rules of another decoder, its errors included (*--decoder-compat*).", \
		"") \
	X("died", TRUNCATED, \
		"The application did not finish. Only what it had written until then was read.", \
		"let the application finish, or read the figures as those of a part of its run") \
	X("differs-bad-slot", INFO, \
		"AMD's decoder 0.1.6 rejects a stream with a bad slot.", \
		"") \
	X("differs-barrier-wait", INFO, \
		"AMD's decoder 0.1.6 guesses otherwise whether an s\\_barrier\\_wait left a token.", \
		"") \
	X("differs-cut", INFO, \
		"AMD's decoder 0.1.6 decodes a last token that the stream's end cuts as if zeros followed.", \
		"") \
	X("differs-header", INFO, \
		"AMD's decoder 0.1.6 lets a header in mid-stream change what is traced.", \
		"") \
	X("differs-late-address", INFO, \
		"AMD's decoder 0.1.6 loses an address that comes after the end of its wave.", \
		"") \
	X("differs-long-stall", INFO, \
		"AMD's decoder 0.1.6 keeps 24 bits of a longer stall and 32 of a longer duration.", \
		"") \
	X("differs-newer-rules", INFO, \
		"The newer published rules give another end, duration, category or address than AMD's decoder 0.1.6.", \
		"") \
	X("differs-open-start", INFO, \
		"AMD's decoder 0.1.6 ends a wave whose start was not recorded at time 0, or leaves it out.", \
		"") \
	X("differs-queue-index", INFO, \
		"An instruction was taken back while others waited: AMD's decoder 0.1.6 confirms a wrong one.", \
		"") \
	X("differs-range-reused", INFO, \
		"AMD's decoder 0.1.6 keeps the old owner of an address range that is used again.", \
		"") \
	X("differs-resumed", INFO, \
		"AMD's decoder 0.1.6 gives up where a later known address lets incore go on.", \
		"") \
	X("differs-start-ext", INFO, \
		"AMD's decoder 0.1.6 ignores extended wave starts.", \
		"") \
	X("differs-swap-end", INFO, \
		"AMD's decoder 0.1.6 rejects a stream because it looks past the end of the code.", \
		"") \
	X("differs-swap-flat", INFO, \
		"AMD's decoder 0.1.6 does not put a global access back in program order.", \
		"") \
	X("differs-unknown-jump", INFO, \
		"AMD's decoder 0.1.6 goes straight on after a jump whose target is not known.", \
		"") \
	X("differs-w64", INFO, \
		"AMD's decoder 0.1.6 counts the cycles of wave64 tokens twice.", \
		"") \
	X("disassembler", INFO, \
		"The text of instructions comes from this disassembler. Words that it does not know are shown as numbers.", \
		"") \
	X("disassembler-crash", GUESSED, \
		"The disassembler crashed on instructions, which are shown as words.", \
		"install a newer LLVM: its llvm-objdump knows the instructions") \
	X("dropped-samples", LOST, \
		"The sampler dropped samples.", \
		"take a longer period or a larger buffer") \
	X("duplicate-row-number", GUESSED, \
		"Code rows share their line number with an earlier row. Records that name it count for the first.", \
		"") \
	X("empty-summary", DAMAGED, \
		"A summary log holds no number.", \
		"simulate again: the log was cut") \
	X("end-without-begin", DAMAGED, \
		"Ends of slices have no begin. They were left out.", \
		"") \
	X("end-without-start", UNMAPPED, \
		"A dump has ends of instructions without a start. They were left out.", \
		"simulate again: the dump was cut") \
	X("ends-before-start", LOST, \
		"Instructions of a dump end before they start. They were left out.", \
		"simulate again: these instructions are missing in all totals") \
	X("events-lost", LOST, \
		"Events were overwritten by later ones of their warp.", \
		"open the recorder with longer rings") \
	X("float-time", INFO, \
		"Late times are floats of 32 bits, whose step is more than a cycle there.", \
		"") \
	X("full-buffer", LOST, \
		"The buffer of the sampler was full.", \
		"take a longer period (--period)") \
	X("host-trap", INFO, \
		"The samples say where a wave was, not whether it issued or why not.", \
		"") \
	X("implausible-stream", CONTRADICTORY, \
		"Tokens of a stream make no sense for the GPU that its header names.", \
		"copy the streams again, or check which GPU they come from") \
	X("json-export", INFO, \
		"The input is a JSON export, which does not hold everything. The note lists what is missing.", \
		"") \
	X("launches-summed", INFO, \
		"Samples are sums over several launches.", \
		"") \
	X("legacy-source", INFO, \
		"A block has an older layout, whose size counts the path, too. Nothing is lost.", \
		"") \
	X("link-outside", MISSING, \
		"A symbolic link leads out of the directory of the capture and was left out.", \
		"--follow-links reads it; use it only if you trust whoever made the capture") \
	X("links-left-out", LOST, \
		"Links name slices that the document does not hold. They were left out.", \
		"") \
	X("list-length", CONTRADICTORY, \
		"Lists have another length than the number of cores.", \
		"") \
	X("load-by-elimination", GUESSED, \
		"A load and a code object do not share a hash. Each is the only one, so they are taken as a pair.", \
		"") \
	X("load-overlap", CONTRADICTORY, \
		"Loads of code objects overlap. The latest counts for the whole trace.", \
		"") \
	X("lone-head", UNMAPPED, \
		"Slices of cache\\_time or ccu\\_time belong to no instruction. They were left out.", \
		"") \
	X("lone-trace", MISSING, \
		"There is a trace.json alone: no sources, and nothing stated per instruction.", \
		"give the whole folder of the simulator, not its trace.json alone") \
	X("loose-flow", UNMAPPED, \
		"Ends of flows touch no slice. They were left out.", \
		"") \
	X("lost-counts", LOST, \
		"CUPTI dropped exact counts.", \
		"capture fewer launches at once") \
	X("lost-launches", LOST, \
		"CUPTI dropped records of launches.", \
		"capture fewer launches at once") \
	X("lost-records", LOST, \
		"The log could not be written for a while. The records of that time are missing.", \
		"write the log to a disk with room and speed enough") \
	X("missing-snapshot", MISSING, \
		"Copies of source files that the capture lists are not there.", \
		"copy the whole directory of the capture") \
	X("missing-wave-file", LOST, \
		"The manifest lists wave files that are not there.", \
		"copy the whole directory again; every total is of the waves that are left") \
	X("model-bad-flag", CONTRADICTORY, \
		"The model found a flag that the machine does not have.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-blocks-share-memory", INFO, \
		"Blocks of the kernel write memory that others access. The model times each block alone and does not order them.", \
		"") \
	X("model-counter-full", CONTRADICTORY, \
		"The model found a counter of a flag that overflows.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-deadlock", CONTRADICTORY, \
		"The model found pipes that wait for each other forever.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-double-set", CONTRADICTORY, \
		"The model found a flag that is set twice before it is awaited.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-fallback-ops", INFO, \
		"Ops have no price of their own in the profile.", \
		"") \
	X("model-flag-left-set", CONTRADICTORY, \
		"The model found a flag that is still set when the kernel ends.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-incomplete", TRUNCATED, \
		"The model did not time the kernel to its end.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-long-slices", CLAMPED, \
		"Slices are longer than 32 bits of cycles and were clamped.", \
		"model a smaller case: the lengths of these slices are cut") \
	X("model-missing-barrier", CONTRADICTORY, \
		"The model found ops of one pipe that need a barrier between them.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-more-findings", CONTRADICTORY, \
		"The model has more findings than it keeps. The note has their number.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-race", CONTRADICTORY, \
		"The model found two accesses to the same memory that nothing orders.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("model-unknown-ops", GUESSED, \
		"The model does not know ops and times them at a guess.", \
		"give these ops a price in the profile (incore model calibrate), or trust no time near them") \
	X("model-unmatched-wait", CONTRADICTORY, \
		"The model found a wait for a flag that nothing sets.", \
		"mend the kernel: on the device this may hang or compute garbage") \
	X("no-api-instr", MISSING, \
		"The container has no API\\_INSTR: nothing is stated per instruction.", \
		"") \
	X("no-code", UNMAPPED, \
		"The code of waves is not in any code object beside the streams.", \
		"put the code objects that ran beside the streams (*_code_object_id_N.out, or code.elf and meta.json with load_base)") \
	X("no-code-object", MISSING, \
		"The code objects of the trace are missing.", \
		"put them or code.json beside the streams (*_code_object_id_N.out, code.elf), or name them with --code") \
	X("no-cubin", MISSING, \
		"The file does not hold the code of the kernel.", \
		"profile again with the code in the report (ncu --import-sass yes), or begin the capture before the kernel is loaded") \
	X("no-cupti", MISSING, \
		"CUPTI could not be loaded, so nothing was sampled.", \
		"install CUPTI of the toolkit, or put its folder into LD_LIBRARY_PATH") \
	X("no-debug-info", MISSING, \
		"The kernel was built without -g, so source lines are missing.", \
		"compile with -g") \
	X("no-disassembler", INFO, \
		"No disassembler for this target was used: instructions are shown by kind and words.", \
		"install LLVM: with llvm-objdump in PATH instructions have their text") \
	X("no-instruction-timing", INFO, \
		"Instructions were not traced: the file has lifetimes of waves alone.", \
		"record with instruction timing, or capture with rocprofv3 --att") \
	X("no-known-code", UNMAPPED, \
		"No instruction lies in a known code object.", \
		"check that the code object is the one that ran, and its load address") \
	X("no-lane", DAMAGED, \
		"Events belong to no process or thread.", \
		"") \
	X("no-libdw", MISSING, \
		"This incore was built without libdw, so source lines are missing.", \
		"build incore with libdw") \
	X("no-load-address", MISSING, \
		"Nothing says where the code objects were loaded: no instruction gets an address.", \
		"put meta.json with load_base beside the streams, or capture again from before the kernel is loaded") \
	X("no-time-line", MISSING, \
		"There is a table alone: totals per instruction, without times.", \
		"for a timeline collect with msprof op simulator") \
	X("no-timestamp", LOST, \
		"Events have no time. They were left out.", \
		"") \
	X("no-wave-start", MISSING, \
		"Tokens belong to waves that began before the trace, or whose start was lost. These waves are resident from its begin.", \
		"") \
	X("not-an-event", DAMAGED, \
		"Items in the list of events are no events. They were left out.", \
		"") \
	X("odd-clock", CONTRADICTORY, \
		"Stated cycles and lengths result in a clock that no known SoC has.", \
		"give the SoC or the clock (--soc, --clock)") \
	X("odd-reserve", DAMAGED, \
		"Blocks have an unexpected reserve byte.", \
		"copy the file again") \
	X("open-marks", LOST, \
		"User marks are nested or never end. They were left out.", \
		"end each mark before the next begins") \
	X("other-code", GUESSED, \
		"The code is that of another capture, not the capture's own.", \
		"") \
	X("other-dumps", INFO, \
		"Logs of other kinds lie beside the dumps. They are not read.", \
		"") \
	X("other-events", LOST, \
		"Events are of kinds that are not kept (objects, samples, memory dumps).", \
		"") \
	X("other-files", INFO, \
		"Files of the run are of kinds that are not read.", \
		"") \
	X("other-machine", CONTRADICTORY, \
		"A side file is of another machine than the capture. It was not used.", \
		"remove the file, or put that of the right machine in its place") \
	X("other-source", GUESSED, \
		"The text of source files comes from below *--source-root*, not from the capture: it may be of another version.", \
		"check out the revision that was captured") \
	X("overfull", LOST, \
		"More is said to happen at once than the hardware can do.", \
		"capture again: records of this stream were lost") \
	X("own-tables", CONTRADICTORY, \
		"The block of tables that incore wrote does not fit the events. It was not used.", \
		"clean the raw capture again: the file was changed after it was written") \
	X("packet-lost", LOST, \
		"The hardware dropped packets.", \
		"capture again with a larger --att-buffer-size or fewer shader engines") \
	X("pmc-outside-jobs", INFO, \
		"The input file of rocprofv3 asks for counters outside its jobs, where they are ignored.", \
		"move \"pmc\" into an entry of \"jobs\"") \
	X("quantised", INFO, \
		"Times are multiples of 1 ns: a start or an end is right to one cycle.", \
		"") \
	X("record-count-differs", LOST, \
		"A file states another number of records than it holds.", \
		"copy the file again") \
	X("rejected", LOST, \
		"AMD's decoder 0.1.6 rejects the stream here; with *--decoder-compat* the rest is not decoded.", \
		"") \
	X("rows-by-text", GUESSED, \
		"The file gives no addresses: instructions of equal text and line count as one.", \
		"") \
	X("sampled-rows-only", INFO, \
		"The file lists the instructions that samples hit, not the whole kernel.", \
		"") \
	X("samples-without-kernel", UNMAPPED, \
		"The file does not say which kernel the samples belong to.", \
		"sample with --kernel-trace") \
	X("scope-begin-lost", LOST, \
		"Scopes end whose begin was not kept. That part of their time counts as idle.", \
		"open the recorder with longer rings") \
	X("scope-depth", CLAMPED, \
		"Scopes lie too deep. Their time counts for the one that they lie in.", \
		"nest fewer scopes") \
	X("scope-long", CLAMPED, \
		"Scopes are longer than 2^32 cycles. The rest of their time counts as idle.", \
		"record a shorter part of the kernel") \
	X("scope-open", INFO, \
		"Scopes had not ended when their warp did.", \
		"") \
	X("scope-time", CONTRADICTORY, \
		"Events are not in the order of time, or come after the end of their warp.", \
		"record again: times of these warps cannot be trusted") \
	X("scopes-cut", TRUNCATED, \
		"The file ends before the last of its warps.", \
		"copy the file again, or write it after the kernel has ended") \
	X("scopes-more", CONTRADICTORY, \
		"Bytes follow the last warp.", \
		"copy the file again") \
	X("second-block", INFO, \
		"The container has another block of this type. Only the first is read.", \
		"") \
	X("set-without-wait", UNMAPPED, \
		"Flags are set that no WAIT took.", \
		"") \
	X("several-runs", INFO, \
		"The file holds several runs.", \
		"") \
	X("shared-function", INFO, \
		"Several kernels can have called a function: its samples belong to none of them alone.", \
		"") \
	X("sorted-instructions", INFO, \
		"Instructions were recorded before the one that they follow in the code. They were sorted by time.", \
		"") \
	X("start-without-end", UNMAPPED, \
		"A dump has starts of instructions without an end. They were left out.", \
		"simulate again: the dump was cut") \
	X("stated-counts", CONTRADICTORY, \
		"A file states another number of executions than the trace has.", \
		"files of two runs may be mixed: simulate again into an empty directory") \
	X("stated-cycles", CONTRADICTORY, \
		"A file states other cycles than the trace has.", \
		"files of two runs may be mixed, or the clock is another: give it (--clock)") \
	X("stats-csv-differs", CONTRADICTORY, \
		"Rows of a CSV file differ from code.json.", \
		"files of two captures may be mixed: decode the trace again into an empty directory") \
	X("stitch-incomplete", UNMAPPED, \
		"Waves have instructions whose address could not be found.", \
		"put the code objects that ran beside the streams") \
	X("stream-cut", TRUNCATED, \
		"The stream ends inside a token.", \
		"copy the stream again, or capture with a larger --att-buffer-size") \
	X("time-source", INFO, \
		"The note says which file the times come from.", \
		"") \
	X("timeline", INFO, \
		"The file has calls, launches, copies and markers of a run. No instruction was traced.", \
		"") \
	X("times-from-first", INFO, \
		"Times are given from the earliest time in the file.", \
		"") \
	X("too-deep", CLAMPED, \
		"Markers or slices are nested more deeply than is shown. The note says what became of them.", \
		"") \
	X("too-many-columns", LOST, \
		"A table has more columns than are read.", \
		"") \
	X("trace-differs", CONTRADICTORY, \
		"The trace beside the dumps has another number of executions.", \
		"files of two runs may be mixed: simulate again into an empty directory") \
	X("trace-json-differs", CONTRADICTORY, \
		"The trace.json beside the source that was read has other executions.", \
		"files of two runs may be mixed: simulate again into an empty directory") \
	X("trace-stall", INFO, \
		"The trace held up the shader engine: times are longer than without it.", \
		"trace fewer SIMDs or fewer shader engines") \
	X("traced-dispatches", INFO, \
		"The run traced these dispatches on this agent.", \
		"") \
	X("traced-simds", INFO, \
		"The capture was to trace instructions of some SIMDs only.", \
		"") \
	X("trailing-bytes", DAMAGED, \
		"Bytes follow the last block.", \
		"copy the file again") \
	X("truncated-log", TRUNCATED, \
		"The log ends in the middle. What comes before its end was read.", \
		"copy the log again, or let the application finish") \
	X("truncated-report", TRUNCATED, \
		"The report ends in the middle. What comes before its end was read.", \
		"copy the report again") \
	X("two-clocks", CONTRADICTORY, \
		"Stated cycles and lengths result in another clock than the SoC has.", \
		"give the clock (--clock)") \
	X("unaligned-clock", MISSING, \
		"Shader engines have no usable clock samples and stay unaligned.", \
		"do not overlay shader engines; figures within one are right") \
	X("unaligned-sms", GUESSED, \
		"No frequency is known: the SMs are shown as if each began at 0.", \
		"do not overlay SMs; figures within one are right") \
	X("unconfirmed", LOST, \
		"Instructions were issued, but the stream never confirms them.", \
		"") \
	X("unknown-blocks", INFO, \
		"Blocks have a type that is not interpreted.", \
		"") \
	X("unknown-bytes", INFO, \
		"Bytes of blocks belong to no announced message.", \
		"") \
	X("unknown-fields", INFO, \
		"Fields of messages are unknown and were skipped.", \
		"") \
	X("unknown-load", UNMAPPED, \
		"Code objects were loaded that the file does not describe: their waves get no addresses.", \
		"") \
	X("unknown-operands", INFO, \
		"Operands of instructions are not understood and are shown as \"?\".", \
		"put nvdisasm of the CUDA toolkit into PATH: its text is shown then") \
	X("unknown-phase", LOST, \
		"Events are of an unknown kind. They were left out.", \
		"") \
	X("unknown-producers", INFO, \
		"Samples of waits have no instruction in the code that they can wait for.", \
		"") \
	X("unknown-token", LOST, \
		"Tokens that are not known were passed over.", \
		"check which GPU the stream comes from; copy it again") \
	X("unlisted-wave-file", CONTRADICTORY, \
		"Wave files are not in the manifest and were left out.", \
		"files of two captures may be mixed: decode the trace again into an empty directory") \
	X("unmapped-addresses", UNMAPPED, \
		"Samples are at addresses that the code does not have.", \
		"profile again with the code in the report (ncu --import-sass yes)") \
	X("unnamed-event", DAMAGED, \
		"Events have numbers without a name. They are shown by number.", \
		"") \
	X("unnamed-marker", UNMAPPED, \
		"Markers have numbers without a name. They are shown by value.", \
		"") \
	X("unpaired", LOST, \
		"B or E events have no other half. They were left out.", \
		"") \
	X("unreadable-folder", MISSING, \
		"A folder with side files cannot be read.", \
		"give this user the right to read the folder") \
	X("unreadable-part", DAMAGED, \
		"A part of the capture cannot be read. The note says which and why.", \
		"copy the part again") \
	X("unsorted-occupancy", CONTRADICTORY, \
		"Occupancy events stand before an earlier one. They were sorted.", \
		"") \
	X("unverified-generation", GUESSED, \
		"No real stream of this generation was seen: the rules come from text alone.", \
		"compare with rocprofv3's own decoder before you rely on it") \
	X("wait-without-set", UNMAPPED, \
		"Flags are awaited that no SET raised.", \
		"") \
	X("warps-lost", LOST, \
		"Warps came when every ring was taken.", \
		"open the recorder with room for more warps") \
	X("warps-unfinished", DAMAGED, \
		"Warps did not finish: only their start is known.", \
		"copy the rings after the kernel has ended") \
	X("wave-incomplete", TRUNCATED, \
		"Waves have no end in the stream.", \
		"") \
	X("waves-without-detail", INFO, \
		"Waves of the target CU have no instructions in the stream.", \
		"") \
	X("wrong-architecture", CONTRADICTORY, \
		"A code object is for another GPU than the trace. It was left out.", \
		"put the code objects of this run beside the streams")
/* clang-format on */
