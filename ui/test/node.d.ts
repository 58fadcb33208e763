// SPDX-License-Identifier: Apache-2.0
// The little of node that the tests use: its own type package is not needed for more.
declare module 'node:test' {
	export function test(name: string, body: () => void | Promise<void>): void;
}
declare module 'node:assert/strict' {
	interface Assert {
		(value: unknown, message?: string): asserts value;
		equal(actual: unknown, expected: unknown, message?: string): void;
		deepEqual(actual: unknown, expected: unknown, message?: string): void;
		throws(f: () => unknown, expected?: RegExp): void;
		ok(value: unknown, message?: string): void;
	}
	const assert: Assert;
	export default assert;
}
