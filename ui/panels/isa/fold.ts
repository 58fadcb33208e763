// SPDX-License-Identifier: Apache-2.0
// fold.ts: the listing as lines, and which of them are seen while loops and basic blocks are folded. A loop's body need not be one
// piece of the listing (compilers rotate loops), so a line is hidden by the groups it is in, not by where it stands.
import { Block, Body, Buckets, Edge, Isa, IsaRow, Loop } from '../types';

/** A loop or a basic block: what its line says while it is folded. */
export interface Group {
	id: string;
	/** the loops around it, outermost first, and itself */
	chain: string[];
	loop: Loop | null;
	first_row: number;
	last_row: number;
	rows: number;
	/** how often it was entered; of a loop: executions of its header */
	executions: number;
	sums: Body | Block;
	/** code rows in it */
	members: number[];
}

export interface Line {
	at: number;
	key: number | string;
	row: IsaRow | null;
	label: Isa['labels'][number] | null;
	/** whose header this is */
	loop: Loop | null;
	/** whose first row this is */
	block: Group | null;
	/** stands for all of it */
	fold: Group | null;
	edges: readonly Edge[];
}

export interface Listing { lines: Line[]; byNumber: Map<number, Line>; groups: Map<string, Group>; blocks: Group[] }

const NO_EDGES: readonly Edge[] = [];

/** Labels and rows as one list; both come in the order of the code table. */
function merge(isa: Isa): Line[] {
	const lines: Line[] = [], { labels, rows } = isa;
	for (let i = 0, k = 0; i < rows.length || k < labels.length;) {
		const isLabel = k < labels.length && (i >= rows.length || labels[k].index < rows[i].index);
		const label = isLabel ? labels[k++] : null, row = isLabel ? null : rows[i++];
		lines.push({ at: lines.length, key: (row ?? label)!.index, row, label, loop: null, block: null, fold: null, edges: NO_EDGES });
	}
	return lines;
}

/** Header rows of the loops around a loop and its own, outermost first. */
function around(header: number | null, loops: Map<number, Loop>): Loop[] {
	const out: Loop[] = [];
	for (let l = header === null ? undefined : loops.get(header); l && out.length < 100; l = l.parent_header_row === null ? undefined : loops.get(l.parent_header_row)) out.unshift(l);
	return out;
}

export function listing(isa: Isa): Listing {
	const lines = merge(isa), byNumber = new Map<number, Line>(), groups = new Map<string, Group>();
	const loops = new Map(isa.loops.map((l) => [l.header_row, l])), bodies = new Map(isa.bodies.map((b) => [b.header_row, b]));
	for (const l of isa.loops) {
		const chain = around(l.header_row, loops).map((x) => 'l' + x.header_row);
		groups.set('l' + l.header_row, { id: 'l' + l.header_row, chain, loop: l, first_row: l.header_row, last_row: l.header_row, rows: l.rows, executions: l.executions, sums: bodies.get(l.header_row)!, members: [] });
	}
	const blocks = isa.blocks.map((b, i): Group => {
		const id = 'b' + i, chain = around(b.loop, loops).map((x) => 'l' + x.header_row);
		const g: Group = { id, chain: [...chain, id], loop: null, first_row: b.first_row, last_row: b.last_row, rows: b.rows, executions: b.executions, sums: b, members: [] };
		groups.set(id, g);
		for (const name of chain) {
			const around = groups.get(name)!;
			around.first_row = Math.min(around.first_row, b.first_row);
			around.last_row = Math.max(around.last_row, b.last_row);
		}
		return g;
	});
	for (const l of lines) {
		if (!l.row || l.row.row === null) continue;
		byNumber.set(l.row.row, l);
		l.loop = loops.get(l.row.row) ?? null;
		const block = l.row.block === null ? undefined : blocks[l.row.block];
		if (!block) continue;
		if (!block.members.length && block.rows > 1) l.block = block;
		for (const name of block.chain) groups.get(name)!.members.push(l.row.index);
	}
	for (const e of isa.edges) {
		const wait = byNumber.get(e.wait);
		if (wait) wait.edges === NO_EDGES ? (wait.edges = [e]) : (wait.edges as Edge[]).push(e);
	}
	return { lines, byNumber, groups, blocks };
}

/** The outermost folded group that a line is in, or undefined. */
export function foldOf(l: Line, list: Listing, folded: ReadonlySet<string>): Group | undefined {
	const block = l.row && l.row.block !== null ? list.blocks[l.row.block] : undefined;
	const id = block?.chain.find((name) => folded.has(name));
	return id === undefined ? undefined : list.groups.get(id);
}

/** The lines seen: each folded group is one line, where its first row stands. */
export function visible(list: Listing, folded: ReadonlySet<string>): Line[] {
	if (!folded.size) return list.lines;
	const out: Line[] = [], seen = new Set<Group>();
	for (const l of list.lines) {
		const g = foldOf(l, list, folded);
		if (!g) out.push(l);
		else if (!seen.has(g)) {
			seen.add(g);
			out.push({ at: l.at, key: g.id, row: null, label: null, loop: null, block: null, fold: g, edges: NO_EDGES });
		}
	}
	return out;
}

/** Blocks worth a line of their own: one row alone is no less when folded. */
export function allGroups(list: Listing): string[] {
	return [...list.groups.values()].filter((g) => g.rows > 1).map((g) => g.id);
}

/** What a row cost: of all waves, of one, or of one execution. */
export interface Cost { hit: number; buckets: Buckets; cycles: number; max: number | null }

/** A group on one wave: its rows together. */
export function groupCost(g: Group, costs: ReadonlyMap<number, Cost>): Cost {
	const out: Cost = { hit: 0, buckets: { issue: 0, stall: 0, wait: 0, idle: 0, drain: 0 }, cycles: 0, max: null };
	for (const m of g.members) {
		const c = costs.get(m);
		if (!c) continue;
		out.hit += c.hit;
		out.cycles += c.cycles;
		for (const k of Object.keys(out.buckets) as (keyof Buckets)[]) out.buckets[k] += c.buckets[k];
	}
	return out;
}

let isWished = false;
const WISH = 'incore-by-blocks';

/** The listing by its blocks and loops, for whoever has no better lines to go by: folded now, or when it is there. */
export function wishFolded(): void {
	isWished = true;
	document.dispatchEvent(new Event(WISH));
}

export function onFoldWish(fold: () => void): { close(): void } {
	document.addEventListener(WISH, fold);
	return { close: () => document.removeEventListener(WISH, fold) };
}

/** Was it wished for, and not done yet? */
export function takeFoldWish(): boolean {
	const was = isWished;
	isWished = false;
	return was;
}
