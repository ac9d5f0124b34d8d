import { type InferSchema, type ResourceMetadata } from "xmcp";
import { z } from "zod";

export const schema = { name: z.string() };
export const metadata: ResourceMetadata = { name: "greeting", description: "A greeting for somebody", mimeType: "text/plain" };

export default function greeting({ name }: InferSchema<typeof schema>) {
  return `Hello, ${name}!`;
}
