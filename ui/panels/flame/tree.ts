// SPDX-License-Identifier: Apache-2.0
// tree.ts: the listing as a tree of calls: kernel, file, inline chain outermost first, instruction. A node's weight is what lies under it;
// instructions without a source line are under [unmapped], never dropped; cycles of no instruction (a pipe that idles) are [unassigned].
import { BUCKETS } from '../../base/palette';
import { Buckets, CodeCost, DiffPart, HotRow, Isa, IsaRow } from '../types';

export interface Node {
	name: string;
	kind: 'kernel' | 'file' | 'frame' | 'row' | 'unmapped' | 'rest';
	buckets: Buckets;
	weight: number;
	children: Node[];
	row?: IsaRow;
	source?: number;
	line?: number;
	depth: number;
	/** against another capture: cycles of the rows under it that have a partner, by how much they would change at the cost they have there, and
	 * whether that is more than noise; cycles of rows that have none */
	versus: { cost: number; change: number; isBeyond: boolean; isWithin: boolean; alone: number };
}

export type Weigh = (r: IsaRow) => number;
export type Versus = (r: IsaRow) => DiffPart | undefined;

function node(name: string, kind: Node['kind'], depth: number): Node {
	return { name, kind, depth, weight: 0, buckets: { issue: 0, stall: 0, wait: 0, idle: 0, drain: 0 }, children: [], versus: { cost: 0, change: 0, isBeyond: false, isWithin: false, alone: 0 } };
}

function child(parent: Node, name: string, kind: Node['kind'], known: Map<Node, Map<string, Node>>): Node {
	let names = known.get(parent);
	if (!names) known.set(parent, (names = new Map()));
	let n = names.get(kind + name);
	if (!n) {
		n = node(name, kind, parent.depth + 1);
		parent.children.push(n);
		names.set(kind + name, n);
	}
	return n;
}

function add(n: Node, r: IsaRow, weight: number, part: DiffPart | undefined): void {
	for (const b of BUCKETS) n.buckets[b] += r.buckets[b];
	n.weight += weight;
	if (!part) return;
	if (part.change === null) n.versus.alone += part.cycles_a;
	else {
		n.versus.cost += part.cycles_a;
		n.versus.change += part.change * part.hit_a;
		n.versus.isBeyond ||= part.verdict === 'beyond-noise';
		n.versus.isWithin ||= part.verdict === 'within-noise';
	}
}

/** Builds the tree; inverted: instruction first, then outwards; called: without the frames of inlined code. */
export function buildTree(isa: Isa, kernel: string, weigh: Weigh, isInverted: boolean, versus: Versus = () => undefined, isCalled = false): Node {
	const root = node(kernel, 'kernel', 0), known = new Map<Node, Map<string, Node>>();
	for (const r of isa.rows) {
		const w = weigh(r);
		if (!(w > 0)) continue;
		const path: { name: string; kind: Node['kind']; source?: number; line?: number; row?: IsaRow }[] = [];
		const outer = r.frames.length ? r.frames[r.frames.length - 1] : null;
		if (outer) path.push({ name: isa.sources[outer[0]] ?? '?', kind: 'file', source: outer[0] });
		else path.push({ name: '[unmapped]', kind: 'unmapped' });
		for (const [source, line] of isCalled ? r.frames.slice(-1) : [...r.frames].reverse()) path.push({ name: `${(isa.sources[source] ?? '?').replace(/^.*\//, '')}:${line}`, kind: 'frame', source, line });
		path.push({ name: isInverted ? r.opcode : r.isa, kind: 'row', row: r });
		if (isInverted) path.reverse();
		const part = versus(r);
		add(root, r, w, part);
		let at = root;
		for (const step of path) {
			at = child(at, step.name, step.kind, known);
			at.source = step.source ?? at.source;
			at.line = step.line ?? at.line;
			at.row = step.row ?? at.row;
			add(at, r, w, part);
		}
	}
	const left = unassigned(isa), rest = { buckets: left, cycles: left && BUCKETS.reduce((n, b) => n + left[b], 0) } as IsaRow, w = left ? weigh(rest) : 0;
	if (w > 0) for (const n of [child(root, '[unassigned]', 'unmapped', known), root]) add(n, rest, w, undefined);
	order(root);
	return root;
}

/** Exposed cycles of the rows, by the answer of hot; what belongs to none of them is of [unassigned], so that the sum is hot's. */
export function exposedOf(isa: Isa, hot: readonly HotRow[]): Weigh {
	const left = new Map<string, number>(), of = new Map<IsaRow, number>(), key = (r: CodeCost) => `${r.row} ${r.address} ${r.isa}`;
	for (const r of hot) left.set(key(r), (left.get(key(r)) ?? 0) + (r.exposed ?? 0));
	for (const r of isa.rows) {
		of.set(r, left.get(key(r)) ?? 0);
		left.delete(key(r));
	}
	const rest = [...left.values()].reduce((n, v) => n + v, 0);
	return (r) => of.get(r) ?? rest;
}

/** What the accounting holds beyond the rows, or null. */
function unassigned(isa: Isa): Buckets | null {
	const left = node('', 'rest', 0).buckets;
	if (!isa.accounting) return null;
	for (const b of BUCKETS) left[b] = Math.max(0, isa.accounting[b] - isa.rows.reduce((n, r) => n + r.buckets[b], 0));
	return BUCKETS.some((b) => left[b]) ? left : null;
}

function order(n: Node): void {
	n.children.sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
	for (const c of n.children) order(c);
}

export interface Box { node: Node; x: number; w: number; depth: number }

/** Boxes of a part of the tree, as shares of its width; what is thinner than `least` becomes one box, "n more". */
export function boxes(root: Node, least: number): Box[] {
	const out: Box[] = [];
	const put = (n: Node, x: number, w: number, depth: number) => {
		out.push({ node: n, x, w, depth });
		let at = x;
		const rest = node('', 'rest', depth + 1), from = { x: -1, n: 0 };
		for (const c of n.children) {
			const cw = n.weight > 0 ? (c.weight / n.weight) * w : 0;
			if (cw >= least) put(c, at, cw, depth + 1);
			else {
				if (!from.n++) from.x = at;
				rest.weight += c.weight;
				for (const b of BUCKETS) rest.buckets[b] += c.buckets[b];
			}
			at += cw;
		}
		/* Children stand by weight, so what is too thin lies together at the end. */
		rest.name = `${from.n} more`;
		if (from.n && at - from.x >= least) out.push({ node: rest, x: from.x, w: at - from.x, depth: depth + 1 });
	};
	if (root.weight > 0) put(root, 0, 1, 0);
	return out;
}

/** Folded stacks, as other tools read them. */
export function folded(root: Node): string {
	const lines: string[] = [];
	const walk = (n: Node, path: string[]) => {
		const here = [...path, n.name.replace(/[;\n]/g, ' ')];
		if (!n.children.length) lines.push(`${here.join(';')} ${Math.round(n.weight)}`);
		for (const c of n.children) walk(c, here);
	};
	walk(root, []);
	return lines.join('\n') + '\n';
}
