// Runs statements on ClickHouse's engine: node query.js <data> <config> reads one
// JSON string per line, and writes a line for each: {"answer": text} or {"error": text}.
const readline = require('node:readline');
const { Session } = require('chdb');

const [data, config, scripts] = process.argv.slice(2);
const session = new Session(data, { connectionArgs: [`--config-file=${config}`, `--user_scripts_path=${scripts}`] });
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let result;
  try {
    result = { answer: session.query(JSON.parse(line), 'TabSeparated').toString() };
  } catch (error) {
    result = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(result) + '\n');
}).on('close', () => session.close());
