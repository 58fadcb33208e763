// SPDX-License-Identifier: Apache-2.0
// Recomputes what is claimed of the colours: the smallest CIEDE2000 difference over normal and colour-blind vision, and their contrast.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast, override, PALETTES, rgb } from '../base/palette';

type V3 = [number, number, number];

// Machado, Oliveira and Fernandes 2009, severity 1, applied to linear RGB.
const VISION: Record<string, number[]> = {
	normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function linear(hex: string): V3 {
	return rgb(hex).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : Math.pow((v / 255 + 0.055) / 1.055, 2.4))) as V3;
}

function lab(hex: string, m: number[]): V3 {
	const c = linear(hex);
	const [r, g, b] = [0, 3, 6].map((k) => Math.max(0, Math.min(1, m[k] * c[0] + m[k + 1] * c[1] + m[k + 2] * c[2])));
	const xyz = [0.4124564 * r + 0.3575761 * g + 0.1804375 * b, 0.2126729 * r + 0.7151522 * g + 0.072175 * b, 0.0193339 * r + 0.119192 * g + 0.9503041 * b];
	const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
	const [x, y, z] = [f(xyz[0] / 0.95047), f(xyz[1]), f(xyz[2] / 1.08883)];
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function ciede2000(p: V3, q: V3): number {
	const rad = Math.PI / 180, c1 = Math.hypot(p[1], p[2]), c2 = Math.hypot(q[1], q[2]), mean = (c1 + c2) / 2;
	const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
	const a1 = (1 + g) * p[1], a2 = (1 + g) * q[1], C1 = Math.hypot(a1, p[2]), C2 = Math.hypot(a2, q[2]);
	const hue = (b: number, a: number) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
	const h1 = hue(p[2], a1), h2 = hue(q[2], a2);
	const dL = q[0] - p[0], dC = C2 - C1;
	let dh = h2 - h1;
	if (C1 * C2 === 0) dh = 0;
	else if (dh > 180) dh -= 360;
	else if (dh < -180) dh += 360;
	const dH = 2 * Math.sqrt(C1 * C2) * Math.sin((dh / 2) * rad);
	const L = (p[0] + q[0]) / 2, C = (C1 + C2) / 2;
	const H = C1 * C2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2;
	const T = 1 - 0.17 * Math.cos((H - 30) * rad) + 0.24 * Math.cos(2 * H * rad) + 0.32 * Math.cos((3 * H + 6) * rad) - 0.2 * Math.cos((4 * H - 63) * rad);
	const SL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2), SC = 1 + 0.045 * C, SH = 1 + 0.015 * C * T;
	const RT = -2 * Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((H - 275) / 25) ** 2)) * rad);
	return Math.sqrt((dL / SL) ** 2 + (dC / SC) ** 2 + (dH / SH) ** 2 + RT * (dC / SC) * (dH / SH));
}

/** The smallest difference of any two colours, for any kind of vision. */
function worst(colours: readonly string[]): number {
	let least = Infinity;
	for (const m of Object.values(VISION))
		for (let i = 0; i < colours.length; i++) for (let j = i + 1; j < colours.length; j++) least = Math.min(least, ciede2000(lab(colours[i], m), lab(colours[j], m)));
	return least;
}

test('CIEDE2000 gives the published values of its test pairs', () => {
	assert.equal(ciede2000([50, 2.6772, -79.7751], [50, 0, -82.7485]).toFixed(4), '2.0425');
	assert.equal(ciede2000([50, 2.5, 0], [73, 25, -18]).toFixed(4), '27.1492');
	assert.equal(ciede2000([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514]).toFixed(4), '0.9082');
});

for (const [theme, classes, buckets] of [['light', 10.0, 21.2], ['dark', 10.1, 21.3]] as const)
	test(`${theme}: classes differ by ${classes}, buckets by ${buckets}, for every kind of vision`, () => {
		const p = PALETTES[theme];
		assert.equal(worst(p.slots).toFixed(1), classes.toFixed(1));
		assert.equal(worst(p.buckets).toFixed(1), buckets.toFixed(1));
	});

test('a class and a bucket have one hue in both themes; on a light page none is near black, on a dark one none is near white', () => {
	const polar = (hex: string) => {
		const [l, a, b] = lab(hex, VISION.normal);
		return { l, c: Math.hypot(a, b), h: (Math.atan2(b, a) * 180) / Math.PI };
	};
	for (const of of ['slots', 'buckets'] as const)
		PALETTES.light[of].forEach((light, i) => {
			const x = polar(light), y = polar(PALETTES.dark[of][i]), apart = Math.abs(((x.h - y.h + 540) % 360) - 180);
			assert.ok(Math.min(x.c, y.c) < 10 || apart < 4, `${of} ${i}: ${light} and ${PALETTES.dark[of][i]} are ${apart.toFixed(0)} degrees apart`);
			assert.ok(Math.min(x.c, y.c) >= 10 || Math.max(x.c, y.c) < 12, `${of} ${i}: grey in one theme only`);
			assert.ok(x.l >= 38 && y.l <= 92, `${of} ${i}: lightness ${x.l.toFixed(0)} and ${y.l.toFixed(0)}`);
		});
});

test('graphics have a contrast of 3 to 1, text of 4.5 to 1, in every theme', () => {
	for (const p of Object.values(PALETTES)) {
		for (const c of [...p.slots, ...p.buckets, p.worse, p.better, p.accent, p.quiet]) for (const b of [p.background, p.stripe]) assert.ok(contrast(c, b) >= 3, `${p.theme} ${c} on ${b}: ${contrast(c, b)}`);
		for (const c of [p.text, p.dim, p.worse, p.better]) for (const b of [p.background, p.stripe, p.surface]) assert.ok(contrast(c, b) >= 4.5, `${p.theme} text ${c} on ${b}: ${contrast(c, b)}`);
	}
});

test('colours of the user replace ours by name, and nothing else does', () => {
	const own = override(PALETTES.light, { matrix: '#123456', wait: 'red', nothing: '#000000' });
	assert.equal(own.slots[3], '#123456');
	assert.deepEqual(own.buckets, PALETTES.light.buckets);
});
