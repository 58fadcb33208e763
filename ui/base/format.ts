// SPDX-License-Identifier: Apache-2.0
// format.ts: numbers as people read them. One unit per column, named in its head; nothing is computed here but the unit.

export type Unit = 'cyc' | 'us' | 'pct';
export const UNITS: readonly Unit[] = ['cyc', 'us', 'pct'];

/** What is there. */
export function known<T>(values: readonly (T | null)[]): T[] {
	return values.filter((v): v is T => v !== null);
}

/** 1234567 -> "1,234,567"; a fraction keeps the digits asked for. */
export function count(n: number | null, digits = 0): string {
	if (n === null || !Number.isFinite(n)) return '-';
	const fixed = Math.abs(n).toFixed(digits);
	const dot = fixed.indexOf('.');
	const whole = dot < 0 ? fixed : fixed.slice(0, dot);
	const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',') + (dot < 0 ? '' : fixed.slice(dot));
	return n < 0 && Number(fixed) !== 0 ? '-' + grouped : grouped;
}

/** 0.1234 -> "12.3 %"; small shares keep a digit that says something. */
export function share(part: number | null, whole: number, sign = true): string {
	if (!(whole > 0) || part === null || !Number.isFinite(part)) return '-';
	const pct = (100 * part) / whole;
	const text = pct !== 0 && Math.abs(pct) < 0.1 ? pct.toPrecision(1) : pct.toFixed(1);
	return sign ? text + ' %' : text;
}

/** 1536000 -> "1.54 M", for axes and chips where the exact figure stands in the tooltip. */
export function short(n: number): string {
	const steps: [number, string][] = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']];
	for (const [size, letter] of steps)
		if (Math.abs(n) >= size) return trim(n / size) + letter;
	return Number.isInteger(n) ? String(n) : trim(n);
}

function trim(n: number): string {
	return String(Number(n.toPrecision(3)));
}

export function address(n: number): string {
	return '0x' + n.toString(16);
}

export function bytes(n: number): string {
	const steps: [number, string][] = [[2 ** 30, ' GiB'], [2 ** 20, ' MiB'], [2 ** 10, ' KiB']];
	for (const [size, letter] of steps)
		if (n >= size) return trim(n / size) + letter;
	return n + ' B';
}

/** How cycles are shown: the unit, the clock where it is known, and what 100 % is. */
export interface Units {
	unit: Unit;
	mhz: number | null;
	scope: number;
	/** what 100 % is, in a word; the span of the trace without it */
	of?: string;
}

/** "cycles", "µs" or "% of lifetime": what a column's head says. A share always says of what. */
export function unitName(u: Units): string {
	return u.unit === 'us' ? 'µs' : u.unit === 'pct' ? `% of ${u.of ?? 'span'}` : 'cycles';
}

/** A number of cycles in the unit, without its name. */
export function cycles(n: number | null | undefined, u: Units): string {
	if (n === null || n === undefined || !Number.isFinite(n)) return '-';
	if (u.unit === 'us') return u.mhz ? micro(n / u.mhz) : '-';
	if (u.unit === 'pct') return share(n, u.scope, false);
	return count(n, Number.isInteger(n) ? 0 : 1);
}

/** The same with its unit: tooltips, labels. */
export function cyclesWith(n: number | null | undefined, u: Units): string {
	return cycles(n, u) + (u.unit === 'cyc' ? (n === 1 ? ' cycle' : ' cycles') : u.unit === 'us' ? ' µs' : ` % of ${u.of ?? 'span'}`);
}

function micro(us: number): string {
	return count(us, us === 0 ? 0 : Math.abs(us) < 10 ? 4 : Math.abs(us) < 1000 ? 3 : 1);
}

/** The largest of many: Math.max(...list) throws where a list passes what a call can carry. */
export function largest<T>(list: Iterable<T>, value: (x: T) => number, least = 1): number {
	let m = least;
	for (const x of list) m = Math.max(m, value(x));
	return m;
}

/** Round steps of an axis: at most n ticks over [a, b], in 1, 2, 5 x 10^k; cycles never below 1. */
export function ticks(a: number, b: number, n: number, least = 0): number[] {
	if (!(b > a) || n < 1) return [];
	const rough = (b - a) / n;
	const power = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = Math.max(least, [1, 2, 5, 10].map((m) => m * power).find((m) => m >= rough * 0.9999) ?? rough);
	const out: number[] = [];
	for (let i = Math.ceil(a / step); i * step <= b && out.length < 1000; i++) out.push(i * step);
	return out;
}

/** A file path cut in front, so that its name stays. */
export function tail(path: string, length: number): string {
	return path.length <= length ? path : '…' + path.slice(path.length - length + 1);
}

/** A text that fits, by what `wide` says of texts: cut in the middle, so that the number of a line and the end of a name stay. */
export function middle(text: string, room: number, wide: (s: string) => number): string {
	if (wide(text) <= room) return text;
	const end = /:\d+$/.exec(text)?.[0] ?? text.slice(-6), head = text.slice(0, text.length - end.length);
	let low = 0, high = head.length;
	while (low < high) {
		const mid = (low + high + 1) >> 1;
		if (wide(head.slice(0, mid) + '…' + end) <= room) low = mid;
		else high = mid - 1;
	}
	return low || wide('…' + end) <= room ? head.slice(0, low) + '…' + end : '';
}

export function baseName(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** One cell of a CSV file (RFC 4180). */
export function csvCell(value: string | number): string {
	const text = String(value);
	return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}
