/* SPDX-License-Identifier: Apache-2.0 */
/* waves_json.c: durations and buckets as JSON. */
#include "analysis/waves/waves.h"

#include "analysis/ratio.h"

void duration_json(const struct duration_stats *d, struct json_writer *out)
{
	json_w_row_object(out);
	json_w_kv_u64(out, "min", d->min);
	json_w_kv_u64(out, "median", d->median);
	json_w_kv_u64(out, "max", d->max);
	json_w_kv_u64(out, "sum", d->sum);
	json_w_kv_u64(out, "p5", d->p5);
	json_w_kv_u64(out, "p25", d->p25);
	json_w_kv_u64(out, "p75", d->p75);
	json_w_kv_u64(out, "p95", d->p95);
	json_w_kv_u64(out, "p99", d->p99);
	json_w_kv_double(out, "mean", d->mean, 3);
	json_w_kv_double(out, "deviation", d->deviation, 3);
	json_w_end(out);
}

void buckets_json(const uint64_t bucket[BUCKET_COUNT], uint64_t duration, struct json_writer *out)
{
	json_w_row_object(out);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		json_w_kv_u64(out, bucket_name(b), bucket[b]);
	json_w_kv_u64(out, "duration", duration);
	json_w_end(out);
}

void bucket_shares_json(
	const uint64_t bucket[BUCKET_COUNT], uint64_t duration, struct json_writer *out)
{
	json_w_key(out, "accounting_shares");
	json_w_row_object(out);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		ratio_json(out, bucket_name(b), bucket[b], duration);
	json_w_end(out);
}
