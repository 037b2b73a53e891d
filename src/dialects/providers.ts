/**
 * Providers of models: one name each and every spelling of it, hosts and model names that identify a provider, and
 * words of provider attributes that name a framework instead.
 */

export interface Provider {
  /** The value of the `provider` column; null: the column keeps the spelling of the sender. */
  readonly name: string | null;
  /** The price list route; null: the catalogue of prices knows the provider by its name. */
  readonly route: string | null;
  readonly spellings: readonly string[];
  /** Spellings that only prices read: in the configuration, and before the slash of a model name. */
  readonly priceSpellings: readonly string[];
}

/** The route of servers without a list price: local ones, and those that cost nothing per token. */
export const LOCAL = 'local';

const provider = (name: string | null, route: string | null, spellings: string, priceSpellings = ''): Provider => ({
  name,
  route,
  spellings: wordsOf(spellings),
  priceSpellings: wordsOf(priceSpellings),
});
const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '');

/** A name with several routes has several rows. */
export const PROVIDERS: readonly Provider[] = [
  provider(
    'openai',
    'openai',
    'openai openai-chat openai-responses openai.chat openai.responses openai.completion openai.embedding openai.image ' +
      'openai.transcription openai.speech',
  ),
  provider(
    'azure.ai.openai',
    'azure',
    'azure.ai.openai az.ai.openai azure azure_openai azure-openai azure-openai.chat azure-openai.responses azure_ai_openai ' +
      'azureopenai azure.chat',
    'azure.ai az.ai azure-ai-foundry microsoft-foundry',
  ),
  provider(
    'azure.ai.inference',
    'azure',
    'azure.ai.inference az.ai.inference azure_ai azure_ai_inference azure-ai-inference',
  ),
  provider('anthropic', 'anthropic', 'anthropic anthropic.messages claude'),
  provider(
    'aws.bedrock',
    'aws',
    'aws.bedrock aws_bedrock amazon-bedrock amazonbedrock amazon_bedrock bedrock bedrock_converse aws amazon',
    'anthropic-bedrock',
  ),
  provider(
    'gcp.gemini',
    'gemini',
    'gcp.gemini gemini google.generative-ai google-generativeai google_genai googlegenai googleaigemini googleai google_ai',
    'google-gla google-ai-studio google-gemini',
  ),
  provider('gcp.gemini', 'google', 'google', 'gcp'),
  provider(
    'gcp.vertex_ai',
    'vertex',
    'gcp.vertex_ai vertex_ai vertexai google.vertex.chat google.vertex google_vertexai vertexaigemini vertex.anthropic',
    'vertex google-vertex google-vertex-ai google-anthropic-vertex anthropic-vertex',
  ),
  provider('gcp.gen_ai', 'gemini', 'gcp.gen_ai'),
  provider('mistral_ai', 'mistral', 'mistral_ai mistralai mistral mistral.chat'),
  provider('cohere', null, 'cohere cohere.chat'),
  provider('groq', null, 'groq groq.chat'),
  provider('x_ai', 'x-ai', 'x_ai xai xai.chat grok', 'x.ai'),
  provider('deepseek', 'deepseek', 'deepseek deepseek.chat', 'deepseek-ai'),
  provider('perplexity', 'perplexity', 'perplexity', 'perplexity-ai perplexityai'),
  provider('ibm.watsonx.ai', null, 'ibm.watsonx.ai watsonx'),
  provider('moonshot_ai', 'moonshotai', 'moonshot_ai moonshot kimi', 'moonshotai'),
  provider('together_ai', 'together', 'together_ai together togetherai'),
  provider('fireworks', 'fireworks', 'fireworks fireworks_ai fireworks-ai', 'fireworksai'),
  provider('hugging_face', null, 'hugging_face huggingface hf'),
  provider('openrouter', null, 'openrouter'),
  provider('ollama', LOCAL, 'ollama'),
  provider('cerebras', null, 'cerebras'),
  provider('replicate', null, 'replicate'),
  provider('dashscope', null, 'dashscope qwen alibaba'),
  provider('github', null, 'github github_models'),
  provider('github', 'github-copilot', 'copilot', 'github-copilot'),
  provider(null, 'novita', '', 'novita novita-ai'),
  provider(null, 'zai', '', 'zai z-ai z.ai'),
  provider(null, 'cloudflare', '', 'cloudflare workers-ai workersai'),
  provider(null, 'voyageai', '', 'voyageai voyage voyage-ai'),
  provider(null, 'zhipuai', '', 'zhipuai zhipu zhipu-ai'),
  provider(
    null,
    LOCAL,
    '',
    'local vllm hosted-vllm lmstudio lm-studio llama.cpp llama-cpp llamacpp llamafile localai local-ai sglang tgi ' +
      'text-generation-inference mlx gpt4all transformers openai-compatible openai-like triton xinference',
  ),
];

/** Frameworks, agent platforms and placeholders: they do not name the provider of the model. */
export const NOT_PROVIDERS: readonly string[] = [
  'strands-agents',
  'microsoft.agent_framework',
  'gcp.vertex.agent',
  'langchain',
  'crewai',
  'agno',
  'autogen',
  'semantic_kernel',
  'llama_index',
  'haystack',
  'litellm',
  'az.ai.agents',
  'dify',
  '_other',
  'unknown',
  'fastmcp',
  'openai-agents',
  'mastra',
  'smolagents',
  'spring_ai',
];

/** Providers by the end of a host. The first match is used. */
export const PROVIDER_HOSTS: readonly (readonly [ending: string, provider: string])[] = [
  ['api.openai.com', 'openai'],
  ['.openai.azure.com', 'azure.ai.openai'],
  ['.services.ai.azure.com', 'azure.ai.inference'],
  ['models.inference.ai.azure.com', 'azure.ai.inference'],
  ['api.anthropic.com', 'anthropic'],
  ['.amazonaws.com', 'aws.bedrock'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['openrouter.ai', 'openrouter'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.deepseek.com', 'deepseek'],
  ['api.x.ai', 'x_ai'],
  ['api.cohere.com', 'cohere'],
  ['api.together.xyz', 'together_ai'],
  ['api.fireworks.ai', 'fireworks'],
  ['api.perplexity.ai', 'perplexity'],
];

/**
 * Prefixes of model names that only one vendor uses; read only when the sender named a framework instead of a provider.
 */
export const MODEL_VENDORS: readonly (readonly [beginning: string, provider: string])[] = [
  ['gpt-', 'openai'],
  ['chatgpt-', 'openai'],
  ['o1', 'openai'],
  ['o3', 'openai'],
  ['o4', 'openai'],
  ['text-embedding-3', 'openai'],
  ['text-embedding-ada', 'openai'],
  ['claude-', 'anthropic'],
  ['gemini-', 'gcp.gemini'],
  ['anthropic.', 'aws.bedrock'],
  ['us.anthropic.', 'aws.bedrock'],
  ['eu.anthropic.', 'aws.bedrock'],
  ['apac.anthropic.', 'aws.bedrock'],
  ['global.anthropic.', 'aws.bedrock'],
  ['amazon.', 'aws.bedrock'],
  ['us.amazon.', 'aws.bedrock'],
  ['eu.amazon.', 'aws.bedrock'],
  ['mistral-', 'mistral_ai'],
  ['deepseek-', 'deepseek'],
  ['grok-', 'x_ai'],
  ['command-', 'cohere'],
  ['kimi-', 'moonshot_ai'],
];

/** Placeholders for content that the sender withheld. They fill no column. */
export const PLACEHOLDERS: readonly string[] = [
  '__REDACTED__',
  '<REDACTED>',
  '[REDACTED]',
  'REDACTED',
  '<not serializable>',
  '[Filtered]',
  '{}',
  '[]',
  'null',
  '""',
];

/** What Micrometer sends for a name that is not known. A text may be this word. */
export const NO_NAMES: readonly string[] = ['none'];
