// SPDX-License-Identifier: Apache-2.0
// Reads Parquet as others do and prints JSON. Numbers that JavaScript cannot hold are texts.
// usage: parquet.mjs duckdb QUERY...        the rows of each query
//        parquet.mjs hyparquet FILE...      the rows of each file
import { readFileSync } from 'node:fs';

async function duckdb(queries) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const answers = [];
  for (const query of queries) answers.push((await connection.runAndReadAll(query)).getRowObjectsJson());
  return answers;
}

async function hyparquet(files) {
  const { parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const answers = [];
  for (const name of files) {
    const bytes = readFileSync(name);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    answers.push(await parquetReadObjects({ file, compressors }));
  }
  return answers;
}

const [reader, ...given] = process.argv.slice(2);
const answers = await (reader === 'duckdb' ? duckdb : hyparquet)(given);
console.log(JSON.stringify(answers, (key, value) => (typeof value === 'bigint' ? String(value) : value)));
