// SPDX-License-Identifier: Apache-2.0
// keep.ts: what a page remembers between visits.

export function keep(key: string, value: string): void {
	try {
		localStorage.setItem(key, value);
	} catch { /* a report opened from a file may have no storage */ }
}

export function kept(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}
