import { defineConfig } from 'vitest/config'
import whole from './vitest.config.ts'

/** What takes longest: more than a second and a half each. */
const SLOW = [
  'engine/shared-index/{churn,collection,dying-threads,graph-capacity,guarded-searches,large-index,numbers,schema-compilation,sliced-reads}',
  'http/{access-metadata,access-paging,access-transport,api-keys,attribute-ceilings,audit,bad-input,batch-reader,bulk-bytes-path}',
  'http/{consistency,content,decision-log,group-story,hostile-lists,limits,metrics,min-revision,permissions,pool,read-elsewhere}',
  'http/{projects,resets,schema-cascades,security,edge/bodies,edge/chunks,openapi/answers,openapi/document,openapi/reference}',
  'threads/job-pool',
]

/** The inner loop: what decides, what is read and answered over HTTP, scenarios; no crash, no second node, no long history. */
export default defineConfig({
  test: {
    ...whole.test,
    include: ['test/*.test.ts', 'test/{cli,composition,engine,http,scenarios,threads}/**/*.test.ts'],
    exclude: ['**/*.redis.test.ts', ...SLOW.map(path => `test/${path}.test.ts`)],
  },
})
