import { type InferSchema, type ToolMetadata } from "xmcp";
import { z } from "zod";

export const schema = { a: z.number(), b: z.number() };
export const metadata: ToolMetadata = { name: "add", description: "Add two numbers", annotations: { readOnlyHint: true } };

export default function add({ a, b }: InferSchema<typeof schema>) {
  return String(a + b);
}
