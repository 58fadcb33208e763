// SPDX-License-Identifier: Apache-2.0
// dom.ts: makes elements. Text always goes in as text: no string ever becomes markup, whatever a kernel is called.

export type Child = Node | string | number | null | undefined | false | Child[];

export interface Props {
	class?: string;
	id?: string;
	title?: string;
	role?: string;
	tabIndex?: number;
	hidden?: boolean;
	disabled?: boolean;
	/** aria-*, data-*, and anything else that is an attribute */
	attrs?: Record<string, string | number | boolean>;
	/** CSS properties; set one by one, which a strict content policy allows */
	style?: Record<string, string>;
	on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
}

function put(parent: Node, child: Child): void {
	if (child === null || child === undefined || child === false) return;
	if (Array.isArray(child)) {
		for (const one of child) put(parent, one);
		return;
	}
	parent.appendChild(typeof child === 'object' ? child : document.createTextNode(String(child)));
}

function apply(e: HTMLElement | SVGElement, props: Props): void {
	if (props.class) e.setAttribute('class', props.class);
	if (props.id) e.id = props.id;
	if (props.title !== undefined) e.setAttribute('title', props.title);
	if (props.role) e.setAttribute('role', props.role);
	if (props.tabIndex !== undefined) e.setAttribute('tabindex', String(props.tabIndex));
	if (props.hidden) e.setAttribute('hidden', '');
	if (props.disabled) e.setAttribute('disabled', '');
	for (const [name, value] of Object.entries(props.attrs ?? {})) e.setAttribute(name, String(value));
	for (const [name, value] of Object.entries(props.style ?? {})) e.style.setProperty(name, value);
	for (const [name, handler] of Object.entries(props.on ?? {}))
		e.addEventListener(name, handler as EventListener);
}

/** h('td', {class: 'num'}, '12'): an element with its properties and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props?: Props | null, ...children: Child[]): HTMLElementTagNameMap[K] {
	const e = document.createElement(tag);
	if (props) apply(e, props);
	put(e, children);
	return e;
}

/** The same for SVG: s('path', {attrs: {d: '...'}}). */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, props?: Props | null, ...children: Child[]): SVGElementTagNameMap[K] {
	const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
	if (props) apply(e, props);
	put(e, children);
	return e;
}

/** Empties a node and fills it anew. */
export function fill(node: Node, ...children: Child[]): void {
	while (node.firstChild) node.removeChild(node.firstChild);
	put(node, children);
}

/** The text of a node that holds nothing else: written only where it differs. */
export function setText(node: Node, text: string): void {
	const only = node.firstChild;
	if (only instanceof Text && !only.nextSibling) {
		if (only.data !== text) only.data = text;
	} else node.textContent = text;
}

export function button(label: string, title: string, click: () => void, extra: Props = {}): HTMLButtonElement {
	const e = h('button', { class: 'button', title, ...extra }, label);
	e.type = 'button';
	if (!label.match(/[a-z]/i)) e.setAttribute('aria-label', title);
	e.addEventListener('click', click);
	return e;
}

/** A place in a file: where there is too little room the folders give way, then the name, never the number of the line. */
export function placeText(path: string, line: number | string, more = ''): HTMLElement {
	const e = h('span', { class: 'place', title: `${path}:${line}` });
	paintPlace(e, path, String(line), more);
	return e;
}

/** The same for an element that is written again and again. */
export function paintPlace(e: HTMLElement, path: string, line: string, more = ''): void {
	const at = path.lastIndexOf('/') + 1;
	if (e.childNodes.length !== 3) fill(e, h('span', { class: 'place-folder' }, ' '), h('span', { class: 'place-name' }, ' '), h('span', { class: 'place-line' }, ' '));
	[path.slice(0, at), path.slice(at), (line && ':' + line) + more].forEach((text, i) => setText(e.childNodes[i], text));
}

export interface Choice { value: string; label: string; disabled?: boolean; title?: string }

/** A labelled drop-down list. */
export function choose(label: string, choices: Choice[], value: string, changed: (value: string) => void): HTMLLabelElement {
	const list = h('select', { attrs: { 'aria-label': label } },
		choices.map((c) => {
			const o = h('option', { title: c.title ?? '' }, c.label);
			o.value = c.value;
			o.disabled = !!c.disabled;
			return o;
		}));
	list.value = value;
	list.addEventListener('change', () => changed(list.value));
	return h('label', { class: 'choose' }, h('span', { class: 'dim' }, label), list);
}

/** A state instead of an empty panel: what is missing, why, and what to do. */
export function notice(title: string, text = '', next = ''): HTMLElement {
	return h('div', { class: 'notice', role: 'note' }, h('strong', null, title), text && h('p', null, text), next && h('p', { class: 'dim' }, next));
}

/** Calls f at most once a frame. */
export function framed(f: () => void): () => void {
	let asked = 0;
	return () => {
		if (asked) return;
		asked = requestAnimationFrame(() => {
			asked = 0;
			f();
		});
	};
}

/** Copies text; false where the browser forbids it. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = h('textarea', { class: 'offscreen' });
		area.value = text;
		document.body.appendChild(area);
		area.select();
		const done = document.execCommand('copy');
		area.remove();
		return done;
	}
}

/** Offers bytes as a file. */
export function download(name: string, data: Blob): void {
	const url = URL.createObjectURL(data);
	const a = h('a', { attrs: { href: url, download: name } });
	document.body.appendChild(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}
