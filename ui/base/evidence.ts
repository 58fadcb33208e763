// SPDX-License-Identifier: Apache-2.0
// evidence.ts: the word of what figures rest on, as it stands on every screen.
import { h } from './dom';

const WEAK = new Set(['estimate', 'vendor-simulator', 'hardware-sample', 'synthetic', 'unknown']);

/** more: what is said behind the word. */
export function evidenceChip(evidence: string, title = 'What kind of evidence these figures are', more = ''): HTMLElement {
	return h('span', { class: 'evidence' + (WEAK.has(evidence) ? ' weak' : ''), title }, evidence + more);
}
