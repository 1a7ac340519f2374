// Asks a gateway through the Vercel AI SDK as an application would, and prints what came as JSON.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const { url, provider, way, system, prompt } = JSON.parse(process.argv[2]);
const model =
  provider === "anthropic"
    ? createAnthropic({ baseURL: `${url}/v1`, apiKey: "k" })("model-1")
    : createOpenAICompatible({ name: "assay", baseURL: `${url}/v1`, apiKey: "k" })("model-1");
const executed = [];
const cancel = tool({
  description: "Cancels an order.",
  inputSchema: jsonSchema({ type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] }),
  execute: async ({ order_id }) => {
    executed.push(order_id);
    return `Order ${order_id} has been cancelled.`;
  },
});
const asked = { model, system, prompt, tools: { cancel }, maxRetries: 0, stopWhen: stepCountIs(2) };
const told = { text: "", pieces: 0, error: null };
try {
  if (way === "generate") {
    const answer = await generateText(asked);
    told.text = answer.text;
    told.finish = answer.finishReason;
  } else {
    const answer = streamText({ ...asked, onError: ({ error }) => { told.error = String(error); } });
    for await (const piece of answer.textStream) {
      told.text += piece;
      told.pieces += 1;
    }
    told.finish = await answer.finishReason;
  }
} catch (error) {
  told.error = String(error);
}
console.log(JSON.stringify({ ...told, executed }));
