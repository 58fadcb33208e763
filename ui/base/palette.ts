// SPDX-License-Identifier: Apache-2.0
// palette.ts: the colours. Twelve slots and five buckets: each has one hue in both themes and in the report, its lightness is tuned to the ground,
// and none is near black or white. Searched under these rules for the largest smallest difference over normal and colour-blind vision;
// test/palette.test.ts recomputes what is claimed of them, and that src/serve/view/colors.c has the same.

export type Theme = 'light' | 'dark' | 'contrast';
export const THEMES: readonly Theme[] = ['light', 'dark', 'contrast'];

export const SLOTS = ['scalar', 'smem', 'valu', 'matrix', 'vmem', 'store', 'lds', 'cross-lane', 'branch', 'sync', 'end', 'other'] as const;
export const BUCKETS = ['issue', 'stall', 'wait', 'idle', 'drain'] as const;
export type Bucket = typeof BUCKETS[number];

const LIGHT_SLOTS = ['#968f22', '#8e6547', '#6c995e', '#027f6f', '#4375d4', '#1299c6', '#954a06', '#916f97', '#615898', '#c24871', '#6b5b53', '#918c92'];
const DARK_SLOTS = ['#bab149', '#b78867', '#a3d093', '#4bad9c', '#89a4f5', '#317b9c', '#9d663e', '#ddb7e3', '#867ad6', '#fb88aa', '#7d726c', '#e7dce8'];
const LIGHT_BUCKETS = ['#348dff', '#ae2d45', '#b88504', '#908d8f', '#5a5a85'];
const DARK_BUCKETS = ['#3d83e9', '#d03e56', '#ffc867', '#9c919a', '#ceccff'];

export interface Palette {
	theme: Theme;
	slots: readonly string[];
	buckets: readonly string[];
	background: string;
	/** behind every other lane: every slot keeps 3 to 1 on it, so it hardly differs */
	stripe: string;
	/** behind heads of groups, where nothing is drawn */
	surface: string;
	text: string;
	dim: string;
	grid: string;
	/** marks that are there but do not call: still 3 to 1 on the background */
	quiet: string;
	accent: string;
	worse: string;
	better: string;
}

export const PALETTES: Record<Theme, Palette> = {
	light: {
		theme: 'light', slots: LIGHT_SLOTS, buckets: LIGHT_BUCKETS, background: '#ffffff', stripe: '#fcfdfe', surface: '#f5f6f8', text: '#1b1e24', dim: '#5b6270',
		grid: '#dfe2e8', quiet: '#878e9b', accent: '#1457c4', worse: '#b2182b', better: '#2166ac',
	},
	dark: {
		theme: 'dark', slots: DARK_SLOTS, buckets: DARK_BUCKETS, background: '#14161a', stripe: '#0c0e11', surface: '#1a1d22', text: '#e6e8ec', dim: '#9aa3b2',
		grid: '#2c313a', quiet: '#6b7482', accent: '#7db3ff', worse: '#f4806a', better: '#6fb1f0',
	},
	contrast: {
		theme: 'contrast', slots: DARK_SLOTS, buckets: DARK_BUCKETS, background: '#000000', stripe: '#000000', surface: '#000000', text: '#ffffff', dim: '#e0e0e0',
		grid: '#8a8a8a', quiet: '#8a8a8a', accent: '#ffd60a', worse: '#ff9d8a', better: '#8cc8ff',
	},
};

/** The user's own colours, as the capture's server hands them on: slot or bucket name to #rrggbb. */
export function override(p: Palette, own: Record<string, string>): Palette {
	if (!Object.keys(own).length) return p;
	const pick = (names: readonly string[], colours: readonly string[]) =>
		names.map((n, i) => (/^#[0-9a-f]{6}$/i.test(own[n] ?? '') ? own[n] : colours[i]));
	return { ...p, slots: pick(SLOTS, p.slots), buckets: pick(BUCKETS, p.buckets) };
}

/** Colours for things without a fixed meaning (kernels, series, causes): the slots in an order of falling difference. */
const ORDER = [4, 6, 3, 9, 0, 8, 1, 5, 7, 2, 11, 10];
export function colourOf(p: Palette, i: number): string {
	return p.slots[ORDER[i % ORDER.length]];
}

export function rgb(hex: string): [number, number, number] {
	const n = parseInt(hex.slice(1), 16);
	return [n >> 16, (n >> 8) & 255, n & 255];
}

/** Black or white, whichever reads better on the colour. */
export function ink(hex: string): string {
	return luminance(hex) > 0.179 ? '#000000' : '#ffffff';
}

export function luminance(hex: string): number {
	const [r, g, b] = rgb(hex).map((v) => {
		const c = v / 255;
		return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
	});
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG contrast of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
	const x = luminance(a), y = luminance(b);
	return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
