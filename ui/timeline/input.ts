// SPDX-License-Identifier: Apache-2.0
// input.ts: mouse, wheel and trackpad on the lanes. Drag selects a box, Alt+drag zooms to it, right-drag measures; Ctrl+wheel zooms at the
// pointer, Shift+wheel pans, a plain wheel scrolls the lanes.
import { App } from '../app';
import { chooseRange } from '../range';
import { askJson, BoxInfo, Link, ranges } from '../source';
import { tOf } from './draw';
import { askAt, hitAt, spoken, Tip } from './hit';
import { Overlay } from './overlay';
import { Timeline } from './view';
import { clamp, pan, zoomAt } from './zoom';

const CLICK_PX = 4;

export class Input {
	private settleTimer = 0;
	/** where keyboard zoom holds on */
	pointerT: number | null = null;
	private touches = new Map<number, PointerEvent>();

	constructor(private readonly app: App, private readonly view: Timeline, private readonly overlay: Overlay, private readonly tip: Tip, private readonly moved: (x: number | null) => void, private readonly goSlice: (track: number, slice: number) => void) {
		const c = view.over;
		c.addEventListener('pointerdown', (e) => this.down(e));
		c.addEventListener('pointermove', (e) => this.move(e));
		c.addEventListener('pointerup', (e) => this.up(e));
		c.addEventListener('pointercancel', (e) => this.touches.delete(e.pointerId));
		c.addEventListener('pointerleave', () => this.leave());
		c.addEventListener('contextmenu', (e) => e.preventDefault());
		c.addEventListener('dblclick', (e) => this.double(e));
		view.scroller.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
	}

	/** Moves the window; the view history takes it when it came to rest. */
	go(w: { t0: number; t1: number }): void {
		this.app.store.set(clamp(w, this.app.trace.span.end));
		if (this.overlay.cursor) this.pointerT = tOf(this.view.scale(), this.overlay.cursor.x);
		this.tip.hide();
		clearTimeout(this.settleTimer);
		this.settleTimer = window.setTimeout(() => this.app.store.settle(), 350);
	}

	zoom(factor: number): void {
		const s = this.app.store.get(), t = this.pointerT ?? (s.t0 + s.t1) / 2;
		this.go(zoomAt(s, Math.max(s.t0, Math.min(s.t1, t)), factor, this.app.trace.span.end));
	}

	pan(part: number): void {
		const s = this.app.store.get();
		this.go(pan(s, part * (s.t1 - s.t0), this.app.trace.span.end));
	}

	private wheel(e: WheelEvent): void {
		const s = this.app.store.get(), scale = this.view.scale(), per = (s.t1 - s.t0) / scale.width;
		const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 200 : 1;
		const box = this.view.over.getBoundingClientRect();
		if (e.ctrlKey || e.metaKey) {
			e.preventDefault();
			this.go(zoomAt(s, tOf(scale, e.clientX - box.left), Math.exp(Math.max(-240, Math.min(240, e.deltaY * unit)) * 0.0035), this.app.trace.span.end));
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			this.go(pan(s, (e.deltaX || e.deltaY) * unit * per, this.app.trace.span.end));
		}
		this.tip.hide();
	}

	private down(e: PointerEvent): void {
		this.view.scroller.focus({ preventScroll: true });
		this.tip.hide();
		this.view.over.setPointerCapture(e.pointerId);
		if (e.pointerType === 'touch') {
			this.touches.set(e.pointerId, e);
			return;
		}
		const kind = e.button === 2 ? 'measure' : e.altKey ? 'zoom' : 'box';
		if (e.button === 1) return;
		this.overlay.drag = { kind, x0: e.offsetX, y0: e.offsetY, x1: e.offsetX, y1: e.offsetY };
	}

	private move(e: PointerEvent): void {
		if (this.touches.has(e.pointerId)) return this.touch(e);
		this.pointerT = tOf(this.view.scale(), e.offsetX);
		this.overlay.cursor = { x: e.offsetX, y: e.offsetY };
		if (this.overlay.drag) Object.assign(this.overlay.drag, { x1: e.offsetX, y1: e.offsetY });
		else this.tip.at(e);
		this.moved(e.offsetX);
	}

	/** One finger pans, two zoom. */
	private touch(e: PointerEvent): void {
		const before = this.touches.get(e.pointerId)!, s = this.app.store.get(), scale = this.view.scale();
		const others = [...this.touches.values()].filter((t) => t.pointerId !== e.pointerId);
		if (!others.length) {
			this.view.scroller.scrollTop -= e.offsetY - before.offsetY;
			this.go(pan(s, (-(e.offsetX - before.offsetX) / scale.width) * (s.t1 - s.t0), this.app.trace.span.end));
		} else {
			const was = Math.abs(before.offsetX - others[0].offsetX), now = Math.abs(e.offsetX - others[0].offsetX);
			if (was > 10 && now > 10) this.go(zoomAt(s, tOf(scale, (e.offsetX + others[0].offsetX) / 2), was / now, this.app.trace.span.end));
		}
		this.touches.set(e.pointerId, e);
	}

	private leave(): void {
		this.overlay.cursor = null;
		this.pointerT = null;
		this.tip.hide();
		this.moved(null);
	}

	private up(e: PointerEvent): void {
		const touch = this.touches.get(e.pointerId);
		this.touches.delete(e.pointerId);
		const d = this.overlay.drag ?? (touch ? { kind: 'box' as const, x0: e.offsetX, y0: e.offsetY, x1: e.offsetX, y1: e.offsetY } : null);
		this.overlay.drag = null;
		if (!d) return;
		const scale = this.view.scale(), isClick = Math.abs(d.x1 - d.x0) < CLICK_PX && Math.abs(d.y1 - d.y0) < CLICK_PX;
		const t0 = Math.max(0, Math.round(tOf(scale, Math.min(d.x0, d.x1)))), t1 = Math.round(tOf(scale, Math.max(d.x0, d.x1)));
		if (isClick) {
			const link = this.overlay.arrows.hit(d.x0, d.y0);
			if (link && d.kind === 'box') this.jump(link);
			else if (d.kind !== 'measure') void this.pick(d.x0, d.y0);
		} else if (d.kind === 'zoom') this.go({ t0, t1 });
		else if (d.kind === 'measure') this.measure(t0, t1, d.y0);
		else this.box(t0, t1, d.y0, d.y1);
		this.moved(this.overlay.cursor?.x ?? null);
	}

	/** Along an arrow: to its other end, or first to what waited. */
	private jump(l: Link): void {
		const s = this.app.store.get().selection, isAtEnd = s?.track === l.toTrack && s.slice === l.toSlice;
		if (isAtEnd) this.goSlice(l.fromTrack, l.fromSlice);
		else this.goSlice(l.toTrack, l.toSlice);
	}

	/** A click: the slice there; where nothing ran, its lane. */
	async pick(x: number, y: number): Promise<void> {
		const hit = hitAt(this.view, x, y);
		if (!hit) return this.app.select(null);
		const still = this.app.store.choose();
		try {
			const info = await askAt(this.app, this.view, hit);
			if (!still()) return;
			if (!info) return this.app.select({ kind: 'track', track: hit.track });
			this.app.select({ kind: 'slice', track: info.track, slice: info.slice!, code: info.code ?? undefined, t0: info.start, t1: info.start + info.duration, source: info.frames[0]?.source, line: info.frames[0]?.line });
			this.app.say(spoken(this.app, info), true);
		} catch {
			if (still()) this.app.select({ kind: 'track', track: hit.track });
		}
	}

	private double(e: MouseEvent): void {
		const hit = hitAt(this.view, e.offsetX, e.offsetY);
		if (hit) this.go(zoomAt(this.app.store.get(), hit.t, 0.25, this.app.trace.span.end));
	}

	private box(t0: number, t1: number, y0: number, y1: number): void {
		const top = Math.min(y0, y1), bottom = Math.max(y0, y1);
		const tracks = this.view.visible().filter((r) => r.lane && this.view.yOf(r) < bottom && this.view.yOf(r) + r.height > top).flatMap((r) => r.lane!.tracks)
			.filter((i) => this.app.trace.tracks[i].end > t0 && this.app.trace.tracks[i].begin < t1);
		chooseRange(this.app, { kind: 'box', t0, t1: Math.max(t1, t0 + 1), tracks });
	}

	private measure(t0: number, t1: number, y: number): void {
		this.overlay.measure = { t0, t1, y, slices: null };
		const row = this.view.rowUnder(y), tracks = row?.lane?.tracks ?? this.view.visible().flatMap((r) => r.lane?.tracks ?? []);
		const c = this.app.trace.index || undefined, now = this.overlay.measure;
		if (tracks.length)
			void askJson<BoxInfo>(this.app.source, 'select', { c, tracks: ranges(tracks), t0, t1, by: 'class' }).then((b) => {
				now.slices = b.total.count;
				this.moved(this.overlay.cursor?.x ?? null);
			}, () => undefined);
		this.app.say(`Measured ${t1 - t0} cycles`, true);
	}
}
