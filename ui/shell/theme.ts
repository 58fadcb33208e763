// SPDX-License-Identifier: Apache-2.0
// theme.ts: light, dark or high contrast: as the system says until the user chooses; kept, switched without a reload.
import { keep, kept } from '../base/keep';
import { Theme, THEMES } from '../base/palette';

const KEY = 'incore.theme';
const listeners: (() => void)[] = [];

export function chosen(): Theme | 'system' {
	return THEMES.find((t) => t === kept(KEY)) ?? 'system';
}

/** Asked for in every frame: kept until something says that it changed. */
let current: Theme | null = null;

export function theme(): Theme {
	return (current ??= look());
}

function look(): Theme {
	const own = chosen();
	if (own !== 'system') return own;
	if (matchMedia('(prefers-contrast: more)').matches) return 'contrast';
	return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function apply(): void {
	current = null;
	document.documentElement.dataset.theme = theme();
	for (const f of listeners) f();
}

export function setTheme(t: Theme | 'system'): void {
	keep(KEY, t);
	apply();
}

export function onTheme(f: () => void): void {
	listeners.push(f);
}

export function startTheme(): void {
	for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)']) matchMedia(query).addEventListener('change', apply);
	apply();
}
