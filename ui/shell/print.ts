// SPDX-License-Identifier: Apache-2.0
// print.ts: on paper a report is its written page, whatever the viewer shows: it is taken out of the document when the viewer opens and
// put back for as long as the browser prints.

/** To be called while the written page still stands in the document. */
export function keepWritten(): () => void {
	const page = document.querySelector<HTMLElement>('main.written');
	return () => {
		if (!page || page.isConnected) return;
		addEventListener('beforeprint', () => {
			document.documentElement.classList.add('printing');
			document.body.appendChild(page);
		});
		addEventListener('afterprint', () => {
			document.documentElement.classList.remove('printing');
			page.remove();
		});
	};
}
