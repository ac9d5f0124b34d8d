// The low-level Server of @modelcontextprotocol/sdk 1.x, the only one before 1.3, over stdio.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js";

// The code that the specification has for a resource that does not exist; the SDK has no name for it.
const RESOURCE_NOT_FOUND = -32002;
const server = new Server({ name: "quickstart", version: "1.0.0" }, { capabilities: { prompts: {}, resources: {}, tools: {} } });

server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: [
    {
      name: "add",
      description: "Add two numbers",
      inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] }
    }
  ]
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name !== "add") throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
  const { a, b } = params.arguments ?? {};
  if (typeof a !== "number" || typeof b !== "number") return { content: [{ type: "text", text: "a and b must be numbers" }], isError: true };
  return { content: [{ type: "text", text: String(a + b) }] };
});
server.setRequestHandler(ListResourcesRequestSchema, async () => ({
  resources: [{ uri: "info://about", name: "about", description: "What this server is", mimeType: "text/plain" }]
}));
server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
  resourceTemplates: [{ uriTemplate: "greeting://{name}", name: "greeting", description: "A greeting for somebody" }]
}));
server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
  if (uri === "info://about") return { contents: [{ uri, mimeType: "text/plain", text: "A quickstart server." }] };
  const name = /^greeting:\/\/([^/]+)$/.exec(uri)?.[1];
  if (name) return { contents: [{ uri, text: `Hello, ${decodeURIComponent(name)}!` }] };
  throw new McpError(RESOURCE_NOT_FOUND, "Resource not found", { uri });
});
server.setRequestHandler(ListPromptsRequestSchema, async () => ({
  prompts: [{ name: "introduce", description: "Introduce somebody", arguments: [{ name: "name", description: "Who", required: true }] }]
}));
server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
  if (params.name !== "introduce") throw new McpError(ErrorCode.InvalidParams, `Unknown prompt: ${params.name}`);
  if (!params.arguments?.name) throw new McpError(ErrorCode.InvalidParams, "The argument `name` is missing");
  return { messages: [{ role: "user", content: { type: "text", text: `Introduce ${params.arguments.name} in one sentence.` } }] };
});
await server.connect(new StdioServerTransport());
