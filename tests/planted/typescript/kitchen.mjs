// A kitchen with tools, prompts and templates on the low-level server of the TypeScript SDK 1.x, which commits the fault that FAULT
// names. The faults are those of handlers, and show with certain arguments. Usage: node kitchen.mjs, over stdio.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import Ajv from "ajv";

const planted = (fault) => process.env.FAULT === fault;
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const ajv = new Ajv();
const string = { type: "string" };
const integer = { type: "integer" };
const positive = { type: "number", exclusiveMinimum: 0, maximum: 1000000 };

const recipes = new Map([["soup", "Boil water."]]);
const notes = new Map();
const gone = new Map();
let plates = 4;
let asked;
const leaked = [];

const read = { readOnlyHint: true };
const tools = {
  scale: {
    properties: { grams: positive, factor: { type: "number", minimum: 0.5, maximum: 4 }, unit: { enum: ["g", "oz", "lb"] } },
    required: ["grams", "factor"],
    annotations: read,
    outputSchema: { type: "object", properties: { amount: { type: "number" }, unit: string }, required: ["amount", "unit"] },
    run({ grams, factor, unit }) {
      const amount = grams * factor;
      const missing = planted("unit-left-out") && unit === undefined;
      return { structuredContent: { amount: planted("huge-as-null") && amount > 1e5 ? null : amount, ...(missing ? {} : { unit: unit ?? "g" }) } };
    },
  },
  serve: {
    properties: { guests: { ...integer, minimum: 1, maximum: 12 }, course: string, note: string },
    required: ["guests", "course"],
    run({ guests, course, note }) {
      if (planted("no-twelfth-guest") && guests > 11) throw new Error("There is no room for so many");
      if (planted("first-guest-is-zero") && guests < 2) throw new Error("Who else comes?");
      if (planted("note-undefined")) return `${course} for ${guests}: ${note}`;
      if (planted("note-by-length")) return `${course} for ${guests} (${note.length} letters)`;
      return `${course} for ${guests}${note ? `: ${note}` : ""}`;
    },
  },
  slice: {
    properties: { cake: string, pieces: { ...integer, minimum: 0 } },
    required: ["cake", "pieces"],
    annotations: read,
    run({ cake, pieces }) {
      if (planted("slicing-breaks-a-plate")) plates--;
      if (planted("slices-for-ever") && pieces === 0) for (;;);
      if (planted("array-of-pieces")) return new Array(pieces).length + " pieces";
      if (planted("repeats-pieces")) return cake.slice(0, 10).repeat(pieces).slice(0, 100);
      return `${cake} in ${pieces} pieces`;
    },
  },
  search: {
    properties: { words: { ...string, maxLength: 200 }, sort: { enum: ["name", "time"] }, tags: { type: "array", items: { ...string, maxLength: 20 }, maxItems: 5 } },
    required: ["words"],
    annotations: read,
    async run({ words, sort, tags }) {
      if (planted("words-as-pattern")) return [...recipes.keys()].filter((name) => new RegExp(words).test(name)).join(", ") || "none";
      if (planted("spaces-backtrack") && !/^(\s*\w*\s*)*$/.test(words)) return "Only words, please";
      if (planted("exits-on-nul") && words.includes("\0")) process.exit(1);
      if (planted("tags-by-first") && tags) return `tagged ${tags[0].toUpperCase()}`;
      if (planted("answers-of-others")) {
        asked = words;
        await wait(30);
        return `Nothing for ${asked}`;
      }
      if (planted("waits-for-quotes") && words.includes('"')) await wait(1e8);
      return `Nothing for ${words}, sorted by ${sort ?? "name"}`;
    },
  },
  parse: {
    properties: { menu: string },
    required: ["menu"],
    annotations: read,
    run({ menu }) {
      if (planted("parses-anything")) return JSON.parse(menu);
      if (planted("decodes-anything")) return decodeURIComponent(menu);
      if (planted("stack-in-error") && menu.length > 100) throw Object.assign(new Error("Too long a menu"), { show: true });
      if (planted("menu-as-object")) return `Menu ${menu.length ? menu : {}}`;
      return `Menu of ${menu.length} letters`;
    },
  },
  nested: {
    properties: { order: { type: "object", properties: { dish: string, size: { enum: ["small", "large"] } }, required: ["dish", "size"] } },
    required: ["order"],
    run: ({ order }) => `${order.dish}, ${order.size}`,
  },
  plates: {
    properties: {},
    annotations: read,
    run: () => `${plates} plates`,
  },
  lay: { properties: { plates: { ...integer, minimum: 0, maximum: 8 } }, required: ["plates"], annotations: { idempotentHint: true }, run: (given) => `${(plates = planted("adds-plates") ? plates + given.plates : given.plates)} plates` },
  note_create: {
    properties: { text: string },
    required: ["text"],
    async run({ text }) {
      const id = `note-${planted("ids-by-size") ? notes.size + 1 : notes.size + gone.size + 1}`;
      if (planted("creates-late")) await wait(20);
      notes.set(id, text);
      return JSON.stringify({ id, text });
    },
  },
  note_read: { properties: { id: string }, required: ["id"], annotations: read, run: ({ id }) => JSON.stringify({ id, text: found(id) }) },
  note_update: {
    properties: { id: string, text: string },
    required: ["id", "text"],
    run({ id, text }) {
      found(id);
      if (!planted("keeps-the-old-note")) notes.set(id, text);
      return "updated";
    },
  },
  note_delete: {
    properties: { id: string },
    required: ["id"],
    run({ id }) {
      const text = found(id);
      gone.set(id, text);
      if (!planted("deletes-nothing")) notes.delete(id);
      return "deleted";
    },
  },
};

function found(id) {
  if (!notes.has(id)) throw new Error("There is no such note");
  return notes.get(id);
}

const schemaOf = ({ properties, required = [] }) => ({ type: "object", properties, required });
// What a handler that validates by hand forgets.
function validated(name) {
  const { properties, required } = structuredClone(schemaOf(tools[name]));
  if (planted("unit-not-validated")) delete properties.unit?.enum;
  if (planted("required-not-validated") && name === "scale") required.pop();
  if (planted("nested-not-validated")) delete properties.order?.properties.size;
  if (planted("items-not-counted")) delete properties.tags?.maxItems;
  if (planted("length-not-validated")) delete properties.words?.maxLength;
  return ajv.compile({ type: "object", properties, required });
}

async function call({ params: { name, arguments: given = {} } }) {
  const tool = tools[name];
  if (!tool) throw new types.McpError(types.ErrorCode.InvalidParams, "Unknown tool");
  const valid = validated(name);
  if (!valid(given)) return { isError: true, content: [{ type: "text", text: ajv.errorsText(valid.errors) }] };
  if (planted("remembers-every-call")) leaked.push(Buffer.alloc(400_000, 1));
  try {
    const result = await tool.run(given);
    const text = typeof result === "object" ? JSON.stringify(result.structuredContent ?? result) : String(result);
    return { content: [{ type: "text", text: planted("empty-as-number") && text.endsWith("0 letters") ? 0 : text }], ...(tool.outputSchema ? result : {}) };
  } catch (error) {
    if (planted("fails-as-internal")) throw new types.McpError(types.ErrorCode.InternalError, error.message);
    return { isError: true, content: [{ type: "text", text: error.show ? error.stack : error.message }] };
  }
}

const server = new Server({ name: "kitchen", version: "1.0.0" }, { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} } });
server.setRequestHandler(types.ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, { outputSchema, annotations, ...tool }]) => ({ name, inputSchema: schemaOf(tool), outputSchema, annotations })),
}));
server.setRequestHandler(types.CallToolRequestSchema, call);
server.setRequestHandler(types.ListResourcesRequestSchema, ({ params }) => {
  const start = params?.cursor === undefined ? 0 : Number(planted("cursor-by-parsing") ? JSON.parse(params.cursor) : params.cursor);
  if (![0, 2].includes(start)) throw new types.McpError(types.ErrorCode.InvalidParams, "Unknown cursor");
  return { resources: [0, 1].map((number) => ({ uri: `kitchen://dishes/${start + number}`, name: `dish ${start + number}` })), nextCursor: start ? undefined : "2" };
});
server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [{ uriTemplate: "kitchen://recipes/{name}", name: "recipe" }] }));
server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
  const [, kind, name] = /^kitchen:\/\/(\w+)\/(.*)$/s.exec(uri) ?? [];
  if (kind !== "recipes" && kind !== "dishes") throw new types.McpError(-32002, "Resource not found", { uri });
  const once = planted("name-not-decoded-well") ? unescape(name) : decodeURIComponent(name);
  return { contents: [{ uri, mimeType: "text/plain", text: `Recipe of ${planted("name-decoded-twice") ? decodeURIComponent(once) : once}` }] };
});
server.setRequestHandler(types.ListPromptsRequestSchema, () => ({ prompts: [{ name: "plan", arguments: [{ name: "days", required: true }, { name: "diet" }] }] }));
server.setRequestHandler(types.GetPromptRequestSchema, ({ params: { name, arguments: given } }) => {
  if (name !== "plan" || given?.days === undefined) throw new types.McpError(types.ErrorCode.InvalidParams, "Unknown prompt, or no days");
  const diet = planted("diet-in-capitals") ? given.diet.toUpperCase() : (given.diet ?? "any");
  return { messages: [{ role: "user", content: { type: "text", text: `Plan ${given.days} days, ${diet} diet` } }] };
});
server.setRequestHandler(types.CompleteRequestSchema, ({ params: { argument } }) => {
  const fits = planted("completes-by-pattern") ? (name) => name.match(new RegExp(`^${argument.value}`)) : (name) => name.startsWith(argument.value);
  return { completion: { values: [...recipes.keys(), "stew"].filter(fits) } };
});
process.stdin.on("end", () => process.exit());
await server.connect(new StdioServerTransport());
