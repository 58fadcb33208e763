// SPDX-License-Identifier: Apache-2.0
// types.ts: names for the parts of the answers that panels read. What is in them stands in answers.ts, made from the schemas.
import { CheckAnswer, DiffAnswer, HotAnswer, InfoAnswer, IsaAnswer, OccupancyAnswer, SummaryAnswer, VerdictAnswer, WavesAnswer } from '../answers';

type KeyOf<U> = U extends unknown ? keyof U : never;
type At<U, K> = U extends unknown ? (K extends keyof U ? U[K] : never) : never;
/** One of several objects, of which it is not known which: a member that some do not have may be missing. */
export type Any<U> = Pick<U, keyof U> & { [K in Exclude<KeyOf<U>, keyof U>]?: At<U, K> };
type Row<T> = T extends (infer R)[] ? R : T;
/** What a member holds where it is there; of a list, a row. */
export type Held<T> = Row<NonNullable<T>>;

export type Isa = IsaAnswer;
export type IsaRow = Held<Isa['rows']>;
export type Edge = Omit<Held<Isa['edges']>, 'dominating'> & { dominating?: boolean };
export type WaitPair = Held<Isa['waits']>;
export type Branch = Held<Isa['branches']>;
export type Loop = Held<Isa['loops']>;
export type Block = Held<Isa['blocks']>;
export type Body = Omit<Held<Isa['bodies']>, 'header_row'>;
export type Latency = Held<Isa['latency']>;
export type Distribution = Held<IsaRow['execution']>;
export type Buckets = IsaRow['buckets'];
/** A part of 1, or so much for each; null where there is no whole. */
export type Ratio = number | null;

export type Hot = Any<HotAnswer>;
export type HotRow = Held<Hot['rows']>;
type Groups = Held<Hot['groups']>;
export type HotGroup = Any<Extract<Groups, { executed_rows: number }>>;
export type HotCause = Extract<Groups, { bucket: string }>;
export type HotProducer = Extract<Groups, { waits: number }>;
export type CodeCost = Omit<HotRow, 'cause' | 'cause_cycles' | 'waits_for'>;
export type Pair = Held<Hot['pairs']>;

export type Waves = Any<WavesAnswer>;
export type Wave = Held<Waves['waves']>;
export type Cluster = Held<Waves['clusters']>;
export type Balance = Held<Held<Waves['imbalance']>['se']>;
export type Spread = Balance['duration'];
export type Accounting = Waves['accounting'];
export type Shares = Record<string, Ratio>;
export type Barriers = Held<Waves['barriers']>;
export type BarrierRow = Held<Barriers['rows']>;
export type Pipe = Held<Waves['pipes']>;
export type Core = Held<Waves['cores']>;

export type Occupancy = Any<OccupancyAnswer>;
export type OccupancyUnit = Any<Held<Occupancy['ses' | 'cus' | 'simds' | 'kernels']>>;
export type Limits = Held<Occupancy['limits']>;
export type Dispatch = Held<Occupancy['dispatches']>;
export type NamedTable = Held<Occupancy['tables']>;

export type Diff = Extract<DiffAnswer, { parts: unknown }>; // of two captures: the page compares no runs of many kernels
export type DiffPart = Held<Diff['parts']>;
export type DiffValue = Held<Diff['values']>;

export type Check = CheckAnswer;
export type Finding = Held<Check['findings']>;
export type Info = Any<InfoAnswer>;

export type Verdict = VerdictAnswer;
export type VerdictUnit = Held<Verdict['units']>;
export type VerdictChange = Held<Verdict['changes']>;

export type Summary = Any<SummaryAnswer>;
export type CauseRow = Held<Summary['causes']>;
