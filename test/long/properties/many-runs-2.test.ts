/** Second part of the properties without a service, with many random values. */
import { manyRuns } from './many-runs.ts'

manyRuns(1)
