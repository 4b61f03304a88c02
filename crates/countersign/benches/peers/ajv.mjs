// Prints the nanoseconds that JSON.parse and a compiled ajv validator take for one document, best of many turns.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const [documentPath, schemaPath] = process.argv.slice(2);
const bytes = readFileSync(documentPath);
const ajv = new Ajv2020({ strict: false });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(schemaPath, "utf8")));
if (!validate(JSON.parse(bytes.toString("utf8")))) {
  console.error(validate.errors);
  process.exit(1);
}

let best = Infinity;
for (let turn = 0; turn < 60; turn += 1) {
  const start = process.hrtime.bigint();
  let count = 0;
  do {
    for (let i = 0; i < 50; i += 1) validate(JSON.parse(bytes.toString("utf8")));
    count += 50;
  } while (process.hrtime.bigint() - start < 10_000_000n);
  best = Math.min(best, Number(process.hrtime.bigint() - start) / count);
}
console.log(best);
