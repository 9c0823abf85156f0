/*
 * Registers of a body with hooks (apart.c, `optnone`) are allocated by LLVM's `basic` allocator, those of all other
 * functions by its `greedy` one, as always: that takes live ranges apart at calls, and such a body is made of calls,
 * between which little is live. Basic takes half the time there, and the code is no longer.
 *
 * LLVM has one allocator for a module. What it offers to plug-ins is an allocator of their own, so this is one that
 * asks one of the two, each of which finds what it needs by the resolver of this one. Both keep the same analyses, and
 * require them but for a few of greedy's own.
 *
 * Only where the code is generated in the process that has this plug-in, and with optimisation: without, LLVM generates
 * code by other passes, among which this could not stand.
 */
#include "instrument/registers.h"

#include <llvm/CodeGen/Passes.h>
#include <llvm/IR/Function.h>
#include <llvm/Pass.h>
#pragma GCC visibility push(default) /* the registry is LLVM's, and is not to be a second one here */
#include <llvm/CodeGen/RegAllocRegistry.h>
#pragma GCC visibility pop

namespace
{

/* Both live as long as the process, for the resolver that they borrow is this pass's to delete. */
class allocator : public llvm::FunctionPass
{
    llvm::FunctionPass *greedy = llvm::createGreedyRegisterAllocator();
    llvm::FunctionPass *basic = llvm::createBasicRegisterAllocator();

  public:
    static char ID;

    allocator() : llvm::FunctionPass(ID)
    {
    }

    llvm::StringRef getPassName() const override
    {
        return "Portent's choice of a register allocator";
    }

    void getAnalysisUsage(llvm::AnalysisUsage &usage) const override
    {
        greedy->getAnalysisUsage(usage);
        basic->getAnalysisUsage(usage);
    }

    bool runOnFunction(llvm::Function &function) override
    {
        llvm::FunctionPass *chosen = function.hasOptNone() ? basic : greedy;
        if (!chosen->getResolver())
            chosen->setResolver(getResolver());
        return chosen->runOnFunction(function);
    }

    void releaseMemory() override
    {
        greedy->releaseMemory();
        basic->releaseMemory();
    }
};

char allocator::ID;

llvm::FunctionPass *make_allocator()
{
    return new allocator;
}

} // namespace

void pt_choose_registers(void)
{
    llvm::RegisterRegAlloc::setDefault(make_allocator);
}
