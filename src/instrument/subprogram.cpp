/* What apart.c needs of debug information and LLVM's C interface does not have. */
#include "instrument/subprogram.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>

/* In optimised code these are all; without optimisation nothing is copied. */
static llvm::DINodeArray parameters_of(const llvm::DISubprogram *subprogram, llvm::DISubprogram *scope)
{
    llvm::LLVMContext &context = subprogram->getContext();
    llvm::SmallVector<llvm::Metadata *, 8> copies;
    for (llvm::DINode *node : subprogram->getRetainedNodes()) {
        auto *variable = llvm::dyn_cast<llvm::DILocalVariable>(node);
        if (variable && variable->getArg())
            copies.push_back(llvm::DILocalVariable::get(
                context, scope, variable->getName(), variable->getFile(), variable->getLine(), variable->getType(),
                variable->getArg(), variable->getFlags(), variable->getAlignInBits(), variable->getAnnotations()));
    }
    return llvm::MDTuple::get(context, copies);
}

LLVMMetadataRef pt_copy_subprogram(LLVMMetadataRef of)
{
    auto *subprogram = llvm::unwrap<llvm::DISubprogram>(of);
    auto flags = subprogram->getFlags() & ~llvm::DINode::FlagAllCallsDescribed;
    llvm::DISubprogram *copy = llvm::MDNode::replaceWithDistinct(subprogram->cloneWithFlags(flags));
    for (unsigned i = 0; i < copy->getNumOperands(); i++)
        if (copy->getOperand(i) && copy->getOperand(i) == copy->getRawRetainedNodes())
            copy->replaceOperandWith(i, parameters_of(subprogram, copy).get());
    return llvm::wrap(copy);
}

void pt_replace_places(LLVMValueRef intrinsic, LLVMValueRef (*other)(const void *arg, LLVMValueRef value),
                       const void *arg)
{
    auto *places = llvm::cast<llvm::DbgVariableIntrinsic>(llvm::unwrap(intrinsic));
    auto range = places->location_ops();
    llvm::SmallVector<llvm::Value *, 4> values(range.begin(), range.end());
    for (llvm::Value *value : values) {
        llvm::Value *theirs = llvm::unwrap(other(arg, llvm::wrap(value)));
        if (theirs != value)
            places->replaceVariableLocationOp(value, theirs);
    }
}
