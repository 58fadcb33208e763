// SPDX-License-Identifier: Apache-2.0
// keys.ts: the keyboard table. One list makes the handler and the help dialog, so that neither forgets a key.

export interface KeyBinding {
	/** stable name; the checklist and the tests use it */
	id: string;
	/** as shown: "W", "Shift+N", "Ctrl+F" */
	keys: string[];
	does: string;
	group: string;
	run: (event: KeyboardEvent) => void;
}

/** "Ctrl+Shift+n" of an event; shift counts only where it does not already change the character. */
export function nameOf(e: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
	const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
	const isLetter = key.length > 1 || (key >= 'a' && key <= 'z');
	return (e.ctrlKey || e.metaKey ? 'Ctrl+' : '') + (e.altKey ? 'Alt+' : '') + (e.shiftKey && isLetter ? 'Shift+' : '') + key;
}

export function normalise(spelled: string): string {
	const at = spelled.lastIndexOf('+', spelled.length - 2);
	const key = spelled.slice(at + 1);
	return spelled.slice(0, at + 1) + (key.length === 1 ? key.toLowerCase() : key);
}

/** Typing into a field is never a command. A dialog that has just closed may keep the focus for a moment: nobody types there. */
export function isTyping(target: EventTarget | null): boolean {
	const e = target as HTMLElement | null;
	return !!e && !!e.tagName && (/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName) || e.isContentEditable) && !e.closest('dialog:not([open])');
}

export class Keys {
	private readonly table = new Map<string, KeyBinding>();

	constructor(readonly bindings: readonly KeyBinding[]) {
		for (const b of bindings)
			for (const key of b.keys) {
				const name = normalise(key);
				if (this.table.has(name)) throw new Error(`key ${key} is bound twice`);
				this.table.set(name, b);
			}
	}

	find(e: KeyboardEvent): KeyBinding | undefined {
		return this.table.get(nameOf(e));
	}

	/** Handles the event unless something else did, or a field or dialog has the focus. */
	handle(e: KeyboardEvent): void {
		if (e.defaultPrevented || isTyping(e.target) || document.querySelector('dialog[open]')) return;
		const b = this.find(e);
		if (!b) return;
		e.preventDefault();
		b.run(e);
	}
}
