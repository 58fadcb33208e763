// SPDX-License-Identifier: Apache-2.0
// banner.ts: can this capture be trusted? The findings of `check`, worst first. That figures are an estimate or a simulator's stays in
// sight whatever is closed.
import { App } from '../app';
import { button, fill, h } from '../base/dom';
import { Check, Finding } from '../panels/types';


const RANK: Record<string, number> = { error: 0, critical: 0, bad: 0, warning: 1, warn: 1, suspect: 1, info: 2 };
const WEAK: Record<string, string> = {
	estimate: 'These figures are an estimate of the embedded model, not a measurement.',
	synthetic: 'This capture was made up by a generator: its figures are of no machine.',
	'vendor-simulator': 'These figures come from a simulator, not from hardware.',
};

function rank(f: Finding): number {
	return RANK[f.severity] ?? 1;
}

/** A place a finding speaks of, as far as it names one. */
function goTo(app: App, f: Finding): (() => void) | null {
	const e = f.evidence ?? {};
	if (typeof e.row === 'number') return () => {
		const code = app.codeOfRow(e.row as number);
		if (code >= 0) app.select({ kind: 'code', code });
		app.openPanel('isa');
	};
	if (typeof e.se === 'number') return () => {
		const t = app.trace.tracks.find((k) => k.coord[0] === e.se);
		if (t) app.showTrack(t.index);
	};
	const panel: Record<string, string> = { 'no-counters': 'counters', 'partial-coverage': 'occupancy', 'source-collapsed': 'source', 'no-source': 'source', 'early-exit': 'isa' };
	return panel[f.id] ? () => app.openPanel(panel[f.id]) : null;
}

export class Banner {
	readonly element = h('div', { class: 'banner ok', role: 'status', attrs: { 'aria-label': 'Health of the capture' } });
	private isOpen = false;

	constructor(private readonly app: App) {
		this.draw(null, '');
		app.verb<Check>('check').then((a) => this.draw(a.data, ''), (e: Error) => this.draw(null, e.message));
	}

	private draw(check: Check | null, failed: string): void {
		const weak = WEAK[this.app.trace.evidence];
		const findings = [...(check?.findings ?? [])].sort((a, b) => rank(a) - rank(b));
		const worst = findings.length ? rank(findings[0]) : 3, n = findings.filter((f) => rank(f) < 2).length;
		// what is sound is not yellow, whatever there is to say about it; that it is no measurement is said in words
		this.element.className = 'banner ' + (failed || worst === 0 || check?.verdict === 'unusable' ? 'bad' : check && check.verdict !== 'ok' && worst === 1 ? 'warn' : findings.length || weak ? 'info' : 'ok');
		const words = failed ? `The health of this capture is unknown: ${failed}`
			: !check ? 'Checking the capture …'
			: !findings.length ? 'No findings: this capture looks sound.'
			: `${n ? `${n} finding${n > 1 ? 's' : ''}` : 'Nothing wrong'}${findings.length > n ? `, ${findings.length - n} for information` : ''}: ${findings[0].message}`;
		fill(this.element, h('div', { class: 'banner-line' },
			check && h('strong', null, check.verdict), h('span', { class: 'words' }, weak && h('strong', null, weak + ' '), words),
			findings.length > 0 && button(this.isOpen ? 'Close' : 'Details', 'All findings', () => {
				this.isOpen = !this.isOpen;
				this.draw(check, failed);
			}, { attrs: { 'aria-expanded': this.isOpen } })),
		this.isOpen && h('ul', null, findings.map((f) => this.finding(f))));
	}

	private finding(f: Finding): HTMLElement {
		const go = goTo(this.app, f);
		return h('li', { attrs: { 'data-finding': f.id } }, h('span', { class: 'severity' }, f.severity), h('span', null, f.message),
			f.advice && h('div', { class: 'advice' }, 'Next: ' + f.advice), go && button('Go there', 'Show the place this is about', go));
	}
}
