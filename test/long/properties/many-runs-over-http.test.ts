/** Properties of a service over HTTP, with many random values. */
import { manyRuns } from './many-runs.ts'

manyRuns('over HTTP')
