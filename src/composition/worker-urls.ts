/** The entry points of threads: the one file that knows where they are. */

const entry = (name: string) => new URL(`../../workers/${name}.ts`, import.meta.url)

export const WORKER_URLS = {
  bodies: entry('body-thread'),
  contentImport: entry('content-import'),
  http: entry('http-thread'),
  largeWrites: entry('large-writes'),
  listBuild: entry('list-build'),
  pool: entry('pool-thread'),
} as const
