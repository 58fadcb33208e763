// SPDX-License-Identifier: Apache-2.0
// window.ts: puts one capture's window together and keeps it in step with the store and the address.
import { keep, kept } from '../base/keep';
import { Keys } from '../base/keys';
import { button, fill, framed, h } from '../base/dom';
import { PANELS } from '../panels/list';
import { askJson, baseCapture, isTimeline, Source, SourceError, TraceInfo } from '../source';
import { decodeLink, encodeLink, initialState, Key, State, Store } from '../state';
import { TimelinePane } from '../timeline/pane';
import { Banner } from './banner';
import { bindings } from './commands';
import { askWhere, help, markers } from './dialogs';
import { Dock, firstBeside } from './dock';
import { listenDrop } from './drop';
import { Explorer } from './explorer';
import { savePng, saveSvg } from './export';
import { Inspector } from './inspector';
import { PlaceCommands, Places } from './places';
import { Search } from './search';
import { Session } from './session';
import { splitter } from './splitter';
import { onTheme } from './theme';
import { TitleBar } from './titlebar';

type Keys_ = ReadonlySet<Key | 'theme' | 'size'>;

const live = h('div', { class: 'sr-only', role: 'status', attrs: { 'aria-live': 'polite' } });
let toastTimer = 0;
/** which panes at the sides are folded */
const PANES = 'incore.panes';

function say(text: string, isQuiet = false): void {
	live.textContent = text;
	if (isQuiet) return;
	document.querySelector('.toast')?.remove();
	const toast = h('div', { class: 'toast', attrs: { 'aria-hidden': 'true' } }, text);
	document.body.appendChild(toast);
	clearTimeout(toastTimer);
	toastTimer = window.setTimeout(() => toast.remove(), 2200);
}

/** What the link asks for, over what was kept for this capture, over the first view. */
export function startState(trace: TraceInfo, fragment: string, stored: string | null, isReport: boolean): { state: State; told: string } {
	const link = decodeLink(fragment), own = stored ? decodeLink(stored) : {};
	const first = !trace.counts.code && trace.has_pipes ? 'details' : isTimeline(trace) && !isReport ? 'hotspots' : trace.counts.code ? 'verdict' : 'summary';
	const panes = kept(PANES) ?? '', fresh: State = { ...initialState(), panel: first, unit: isTimeline(trace) && trace.clock.mhz ? 'us' : 'cyc', beside: firstBeside(first === 'verdict'), isSideOpen: !panes.includes('side'), isInspectorOpen: !panes.includes('inspector'), hash: trace.hash, t0: trace.span.begin, t1: Math.max(trace.span.end, trace.span.begin + 1) };
	const isOther = link.hash !== undefined && link.hash !== '' && link.hash !== trace.hash;
	const keptView: Partial<State> = own.hash === trace.hash ? { ...own, selection: own.selection ?? null } : {};
	const state = { ...fresh, ...(isOther || link.hash === undefined ? keptView : {}), ...(isOther ? { panel: link.panel ?? fresh.panel, unit: link.unit ?? fresh.unit } : link), hash: trace.hash };
	state.t1 = Math.min(Math.max(state.t1, state.t0 + 1), Math.max(trace.span.end, 1));
	if (state.t0 >= state.t1) state.t0 = 0;
	if (!baseCapture(trace, state.base)) state.base = null;
	// a report has the figures of all
	if (isReport || !trace.tracks.length || (state.range && state.range.t0 >= trace.span.end)) state.range = null;
	if (state.range) state.range = { ...state.range, t1: Math.min(state.range.t1, trace.span.end) };
	if (state.selection?.track !== undefined && state.selection.track >= trace.tracks.length) state.selection = null;
	return { state, told: isOther ? 'This link was made for another capture: its view is not restored' : '' };
}

export interface Opened { close(): void; session: Session; pane: TimelinePane | null }

export function openWindow(host: HTMLElement, source: Source, trace: TraceInfo, link: string, openCapture: (index: number, base?: string) => void): Opened {
	const { state, told } = startState(trace, link, kept('incore.view.' + trace.hash), source.kind === 'report');
	const store = new Store(state), session = new Session(source, store, trace);
	const wrong = (e: unknown) => {
		if (e instanceof SourceError && e.status !== 0) say('The lanes cannot be drawn: ' + e.message);
	};
	const missing = TimelinePane.missing(session);
	const pane = missing ? null : new TimelinePane(session, wrong, (i) => markers(session, i));
	if (pane) pane.view.settled = () => session.painted();
	setTimeout(() => session.painted(), pane ? 700 : 0);
	const go = (track: number, slice: number) => void pane?.goSlice(track, slice);
	const explorer = new Explorer(session), inspector = new Inspector(session, { goSlice: go });
	const resized = framed(() => tell(store.get(), new Set<Key | 'size'>(['size']))), dock = new Dock(session, PANELS, resized);
	const search = new Search(session, { goSlice: go, marks: (codes, density, question, tracks) => {
		pane?.view.setMatches(codes, question, tracks);
		if (pane) pane.ruler.density = density;
		pane?.ruler.draw();
	} });
	const swap = () => {
		const other = baseCapture(trace, store.get().base) ?? trace.captures.find((c) => c.index !== trace.index);
		if (other) openCapture(other.index, store.get().base ? trace.hash : undefined);
		else say('Only one capture is open');
	};
	const places = new Places(store), placeCommands = new PlaceCommands(session, places);
	const keyTable = bindings({ app: session, pane, dock, search, places: placeCommands, swap });
	const title = new TitleBar(session, search.element, {
		help: () => help(keyTable, dock.panels), goTo: () => askWhere(session), places: () => void placeCommands.choose(), markers: () => markers(session, -1), openCapture,
		png: () => (pane ? savePng(session, pane) : say('There is no timeline to save')), svg: () => (pane ? saveSvg(session, pane) : say('There is no timeline to save')),
	});
	session.shows = {
		openPanel: (id) => dock.show(id), showTime: (a, b) => pane?.showTime(a, b), showTrack: (t) => pane?.showTrack(t), goSlice: go, say,
	};
	const work = h('main', { class: 'work' + (pane ? '' : ' no-lanes') });
	const parts: { changed(s: Readonly<State>, k: Keys_): void }[] = [title, search, places, explorer, inspector, ...(pane ? [pane] : []), dock];
	const tell = (s: Readonly<State>, keys: Keys_) => {
		work.classList.toggle('no-bottom', !s.isBottomOpen);
		work.classList.toggle('no-side', !s.isSideOpen);
		work.classList.toggle('no-inspector', !s.isInspectorOpen);
		if (keys.has('isSideOpen') || keys.has('isInspectorOpen')) {
			keep(PANES, (s.isSideOpen ? '' : 'side ') + (s.isInspectorOpen ? '' : 'inspector'));
			foldable(explorer.element, 'explorer', s.isSideOpen, '«', '»', (isSideOpen) => store.set({ isSideOpen }));
			foldable(inspector.element, 'inspector', s.isInspectorOpen, '»', '«', (isInspectorOpen) => store.set({ isInspectorOpen }));
		}
		for (const p of parts) p.changed(s, keys);
	};
	layOut(work, explorer.element, pane?.element ?? missing!, inspector.element, dock.element, resized);
	fill(host, title.element, new Banner(session).element, work, live);
	const stop = store.listen((s, keys) => {
		tell(s, keys);
		remember(trace, s);
	});
	work.addEventListener('open-row', () => void goWorst(session, pane));
	const stepped = () => goBack(session, pane);
	addEventListener('popstate', stepped);
	onTheme(() => document.contains(work) && tell(store.get(), new Set<Key | 'theme'>([...(Object.keys(store.get()) as Key[]), 'theme'])));
	const keys = new Keys(keyTable), listener = (e: KeyboardEvent) => keys.handle(e);
	document.addEventListener('keydown', listener);
	tell(store.get(), new Set([...(Object.keys(store.get()) as Key[]), 'theme', 'size']));
	store.settle();
	if (told) say(told);
	lastMove = moveOf(encodeLink(store.get()));
	restore(session, pane, state);
	const stopDrop = listenDrop(session);
	return { session, pane, close: () => {
		clearTimeout(rememberTimer); // the address is that of another capture now
		stop();
		stopDrop();
		removeEventListener('popstate', stepped);
		document.removeEventListener('keydown', listener);
		pane?.close();
		dock.close();
	} };
}

/** A link names a slice by number: fill in the rest. Without any selection the heaviest row is brought into sight by its panel. */
function restore(session: Session, pane: TimelinePane | null, s: State): void {
	const still = session.store.choose();
	void session.code().catch(() => undefined).then(() => {
		if (!still()) return;
		if (s.selection?.kind === 'slice' && s.selection.slice !== undefined) void pane?.goSlice(s.selection.track!, s.selection.slice, false);
		else if (s.selection?.kind === 'code') session.select({ ...s.selection });
	});
}

/** The button that folds a pane at the side into a narrow rail, and back. */
function foldable(pane: HTMLElement, name: string, isOpen: boolean, fold: string, unfold: string, set: (isOpen: boolean) => void): void {
	const head = pane.querySelector('.pane-head')!, had = head.querySelector<HTMLElement>('.pane-fold'), isFocused = had !== null && had === document.activeElement;
	had?.remove();
	head.appendChild(button(isOpen ? fold : unfold, `${isOpen ? 'Fold' : 'Open'} the ${name}`, () => set(!isOpen), { class: 'button pane-fold', attrs: { 'aria-expanded': isOpen } }));
	if (isFocused) head.querySelector<HTMLElement>('.pane-fold')!.focus();
}

/** From a row of a table: to the ISA row, and to the execution of it that took longest, in the middle of the timeline. */
async function goWorst(session: Session, pane: TimelinePane | null): Promise<void> {
	const { store } = session, s = store.get().selection, c = session.trace.index || undefined;
	let code = s?.code, still = store.choose();
	if (s?.kind === 'line') {
		const table = await session.code(), here = table.row.map((_, i) => i).filter((i) => table.source[i] === s.source && table.line[i] === s.line);
		code = here.reduce<number | undefined>((m, i) => (m === undefined || table.cycles[i] > table.cycles[m] ? i : m), undefined);
	}
	if (!still()) return;
	if (code === undefined) return s?.track !== undefined ? pane?.fitSelection() : undefined;
	if (s?.kind === 'line') session.select({ kind: 'code', code });
	session.openPanel('isa');
	still = store.choose();
	const worst = pane && (await askJson<{ outliers: { track: number; slice: number }[] }>(session.source, 'histogram', { c, code }).catch(() => null))?.outliers[0];
	if (worst && still()) await pane.goSlice(worst.track, worst.slice, true, true);
}

/** The part of a link that a move changes: where one is, not how it looks. */
function moveOf(link: string): string {
	return link.split('&').filter((word) => /^(p|t|s|r|l|w|x|d|f)=/.test(word)).join('&');
}

let rememberTimer = 0, lastMove = '';
/** The address follows with a delay; each move is a step that the browser's Back undoes. */
function remember(trace: TraceInfo, s: Readonly<State>): void {
	clearTimeout(rememberTimer);
	rememberTimer = window.setTimeout(() => {
		const link = encodeLink(s), move = moveOf(link), isMove = lastMove !== '' && move !== lastMove;
		keep('incore.view.' + trace.hash, link);
		lastMove = move;
		try {
			if (isMove) history.pushState(null, '', '#' + link);
			else history.replaceState(null, '', '#' + link);
		} catch { /* some viewers of files forbid it */ }
	}, 250);
}

/** The browser's Back and Forward: where one was; colours, units and pins stay. */
function goBack(session: Session, pane: TimelinePane | null): void {
	const link = decodeLink(location.hash), { store, trace } = session;
	if (link.hash !== trace.hash) return;
	clearTimeout(rememberTimer);
	lastMove = moveOf(location.hash.slice(1));
	const { t0, t1, panel } = link, s = store.get();
	store.set({ selection: link.selection ?? null, scope: link.scope ?? null, range: link.range ?? null, panel: panel ?? s.panel, t0: t0 ?? s.t0, t1: t1 ?? s.t1 });
	clearTimeout(rememberTimer);
	restore(session, pane, store.get());
}

function layOut(work: HTMLElement, explorer: HTMLElement, timeline: HTMLElement, inspector: HTMLElement, dock: HTMLElement, moved: () => void): void {
	work.append(explorer, splitter(work, { name: 'side', label: 'Width of the explorer', property: '--side', isVertical: true, sign: 1, least: 120, most: () => innerWidth * 0.4, fallback: innerWidth < 1500 ? 220 : 300, moved }),
		timeline, splitter(work, { name: 'inspector', label: 'Width of the inspector', property: '--inspector', isVertical: true, sign: -1, least: 180, most: () => innerWidth * 0.5, fallback: innerWidth > 2200 ? 420 : 300, moved }), inspector,
		splitter(work, { name: 'bottom', label: 'Height of the panels', property: '--bottom', isVertical: false, sign: -1, least: 120, most: () => innerHeight - 260, fallback: Math.round(innerHeight * 0.42), moved }), dock);
}
