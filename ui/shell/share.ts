// SPDX-License-Identifier: Apache-2.0
// share.ts: what is on screen, for someone else: a link to it, or the capture as one file that opens with it.
import { App } from '../app';
import { copyText, download, h } from '../base/dom';
import { askText, baseCapture } from '../source';
import { encodeLink } from '../state';
import { dialog } from './dialogs';
import { fileName } from './export';

/** The address of this view; who opens it is asked for the key. */
export async function copyLink(app: App): Promise<void> {
	const isCopied = await copyText(location.href.replace(/#.*$/, '') + '#' + encodeLink(app.store.get()));
	app.say(isCopied ? 'Link copied' : 'The link is in the address bar');
}

/** A report with the view that it opens with; a link has no sign that an attribute could end with. */
export function withView(report: string, link: string): string {
	return report.replace('<body data-report="1"', (body) => `${body} data-view="${link.replace(/&/g, '&amp;')}"`);
}

/** What `incore report` writes of the capture shown and, where one is compared with, of both. */
export async function saveReport(app: App): Promise<void> {
	const s = app.store.get(), link = encodeLink(s);
	app.say('The report is being made …');
	try {
		const report = await askText(app.source, 'report', { c: app.trace.index || undefined, base: baseCapture(app.trace, s.base)?.index });
		download(fileName(app, 'html'), new Blob([withView(report, link)], { type: 'text/html' }));
		app.say('Report saved');
	} catch (e) {
		dialog('No report', h('p', null, (e as Error).message));
	}
}
