// SPDX-License-Identifier: Apache-2.0
// drop.ts: a file that is dropped on the page. A page may not tell the server a path and the server takes no data, so what can be done is told:
// the command that shows both.
import { App } from '../app';
import { button, copyText, h } from '../base/dom';
import { dialog } from './dialogs';

/** A word as a shell takes it. */
export function quoted(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** What to type to see the shown capture and the dropped ones together. */
export function commandFor(path: string, names: readonly string[], isReport: boolean): string {
	const words = [path, ...names].map(quoted).join(' ');
	return isReport ? `incore report ${words} -o both.html` : `incore view ${words}`;
}

function tell(app: App, names: string[]): void {
	const isReport = app.source.kind === 'report', reports = names.filter((n) => /\.html?$/i.test(n)), captures = names.filter((n) => !reports.includes(n));
	const path = String(app.trace.captures[app.trace.index]?.path ?? app.trace.input.path ?? 'CAPTURE');
	const lines = captures.length ? [commandFor(path, captures.slice(0, isReport ? 1 : 15), false), ...(isReport ? [commandFor(path, captures.slice(0, 1), true)] : [])] : [];
	dialog('Compare with what was dropped', h('p', null, isReport ? 'A report asks nobody for anything, and reading a capture takes the program.' : 'This page reads no files, and the server behind it takes neither files nor paths from a page: that keeps both safe.'),
		lines.map((line) => h('p', { class: 'row' }, h('code', { class: 'command' }, line), button('Copy', 'Copy this command', () => void copyText(line).then((done) => app.say(done ? 'Command copied' : 'Copying is not allowed here'))))),
		lines.length > 0 && h('p', { class: 'dim' }, 'A browser tells a page the name of a file, not its folder: put the path before it.'),
		reports.length > 0 && h('p', null, `${reports.join(', ')}: a report is a page of its own; open it in another tab. Two captures in one report: incore report A B -o both.html.`));
}

/** Listens until the returned function is called. */
export function listenDrop(app: App): () => void {
	const hasFiles = (e: DragEvent) => !!e.dataTransfer && [...e.dataTransfer.types].includes('Files');
	const over = (e: DragEvent) => hasFiles(e) && e.preventDefault();
	const drop = (e: DragEvent) => {
		if (!hasFiles(e)) return;
		e.preventDefault();
		const names = [...e.dataTransfer!.files].map((f) => f.name);
		if (names.length) tell(app, names);
	};
	document.addEventListener('dragover', over);
	document.addEventListener('drop', drop);
	return () => {
		document.removeEventListener('dragover', over);
		document.removeEventListener('drop', drop);
	};
}
