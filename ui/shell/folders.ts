// SPDX-License-Identifier: Apache-2.0
// folders.ts: files as a tree of folders, the dearest first. Pure. Folders with nothing in them but one folder are one row with it.

export interface PathFile { path: string; index: number; cost: number }
export interface Folder { path: string; name: string; cost: number; folders: Folder[]; files: PathFile[] }
/** A row of the tree, where all is unfolded. */
export type Entry = { depth: number; folder: Folder } | { depth: number; file: PathFile };

function merged(f: Folder): Folder {
	let one = f;
	while (!one.files.length && one.folders.length === 1) one = { ...one.folders[0], name: one.name + one.folders[0].name };
	return { ...one, folders: one.folders.map(merged) };
}

/** The folder of all: what has no folder in its path is directly in it. */
export function folderOf(files: readonly PathFile[]): Folder {
	const root: Folder = { path: '', name: '', cost: 0, folders: [], files: [] };
	for (const file of files) {
		let at = root;
		at.cost += file.cost;
		for (const part of file.path.slice(0, file.path.lastIndexOf('/') + 1).match(/[^/]*\/+/g) ?? []) {
			const path = at.path + part;
			let next = at.folders.find((f) => f.path === path);
			if (!next) at.folders.push((next = { path, name: part, cost: 0, folders: [], files: [] }));
			next.cost += file.cost;
			at = next;
		}
		at.files.push(file);
	}
	return { ...root, folders: root.folders.map(merged) };
}

/** Rows from top to bottom: of each folder its folders and files, the dearest first; nothing of what is folded. */
export function entries(root: Folder, isOpen: (f: Folder) => boolean): Entry[] {
	const out: Entry[] = [], walk = (f: Folder, depth: number) => {
		const all: { cost: number; name: string; folder?: Folder; file?: PathFile }[] = [...f.folders.map((folder) => ({ cost: folder.cost, name: folder.name, folder })), ...f.files.map((file) => ({ cost: file.cost, name: file.path, file }))];
		all.sort((a, b) => b.cost - a.cost || (a.name < b.name ? -1 : 1));
		for (const { folder, file } of all) {
			if (file) out.push({ depth, file });
			else if (folder) {
				out.push({ depth, folder });
				if (isOpen(folder)) walk(folder, depth + 1);
			}
		}
	};
	walk(root, 0);
	return out;
}
