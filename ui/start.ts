// SPDX-License-Identifier: Apache-2.0
// start.ts: runs before the viewer's own script is there: asks for the trace, and says how far its reading is. What comes is handed to main.ts.
import { loading } from './loading';
import { TraceAnswer } from './source';
import { api, bearer, readProgress, takeToken } from './source_http';
import { theme } from './shell/theme';

/** The answer to `trace` of the first capture once it is read; null: it could not be had, ask again. */
export interface Early { trace: Promise<ArrayBuffer | null> }

const token = takeToken();
const ask = (question: string) => fetch(api(question), bearer(token));

async function read(): Promise<ArrayBuffer | null> {
	const progress = ask('progress'), first = await ask('trace');
	if (!first.ok) return null;
	const data = await first.arrayBuffer(), trace = JSON.parse(new TextDecoder().decode(data)) as TraceAnswer;
	const path = trace.captures[0].path;
	const told = progress.then((answer) => readProgress(answer, (p) => {
		const isLoading = trace.state === 'loading' && !p.read;
		if (isLoading) loading(p, path);
		return isLoading;
	}));
	if (trace.state !== 'loading') return data;
	await told;
	const whole = await ask('trace');
	return whole.ok ? whole.arrayBuffer() : null;
}

document.documentElement.dataset.theme = theme();
(window as unknown as { incoreEarly: Early }).incoreEarly = { trace: token ? read().catch(() => null) : Promise.resolve(null) };
