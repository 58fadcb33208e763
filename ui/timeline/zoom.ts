// SPDX-License-Identifier: Apache-2.0
// zoom.ts: the window in time. Pure: never narrower than a few cycles, never outside the trace.

export interface Window { t0: number; t1: number }
const LEAST = 8;

/** Keeps a window inside [0, end]: its width first, then its place. */
export function clamp(w: Window, end: number): Window {
	const width = Math.max(Math.min(LEAST, end), Math.min(end, w.t1 - w.t0));
	const t0 = Math.max(0, Math.min(end - width, w.t0));
	return { t0, t1: t0 + width };
}

/** By a factor, around a point that stays where it is. */
export function zoomAt(w: Window, t: number, factor: number, end: number): Window {
	const width = Math.max(Math.min(LEAST, end), Math.min(end, (w.t1 - w.t0) * factor));
	const part = (t - w.t0) / (w.t1 - w.t0);
	return clamp({ t0: t - part * width, t1: t - part * width + width }, end);
}

export function pan(w: Window, by: number, end: number): Window {
	return clamp({ t0: w.t0 + by, t1: w.t1 + by }, end);
}

/** A stretch with room on both sides. */
export function around(t0: number, t1: number, end: number, room = 0.15): Window {
	const width = Math.max(LEAST, t1 - t0);
	return clamp({ t0: t0 - width * room, t1: t1 + width * room }, end);
}
